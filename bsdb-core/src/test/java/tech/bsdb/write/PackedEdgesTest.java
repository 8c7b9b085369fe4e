package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Golden;
import tech.bsdb.Layout;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.data.BlockCompressor;
import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;

/**
 * Bins and compressed blocks that end a byte before, at or behind the end of a page: the pages are
 * as a model fills them, and every engine finds all records.
 *
 * <p>Keys are random. In the order of their signatures, each gets a value of the length that takes
 * its record to the edge. A test builds databases until it has seen every kind of edge.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PackedEdgesTest {
  private static final int KEY = 8;
  private static final int BLOCK = 512;

  /** The least record: its header and a key, without a value. */
  private static final int LEAST = RecordFrame.SHORT + KEY;

  /** Bytes of a page to leave behind a block; those below 0 are in the next page. */
  private static final int[] LEFT_IN_PAGE = {-2, -1, 0, 0, 1, 1, 2, 3};

  /** Bytes of records in a page in which no bin starts. */
  private static final int FULL = Page.PAYLOAD - PackedPage.directory(0);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PackedEdgesTest");
  private Truth truth = new Truth();

  /** How a page can end. */
  private enum Edge {
    FULL_AND_CONTINUED,
    FULL_AT_THE_END_OF_A_BIN,
    A_BYTE_FREE,
    FULL_WITHOUT_BIN,
    FULL_OF_ONE_BIN,
    BLOCK_HEADER_CUT;

    boolean of(Filled page) {
      return switch (this) {
        case FULL_AND_CONTINUED -> page.full() && page.continues;
        case FULL_AT_THE_END_OF_A_BIN -> page.full() && !page.continues;
        case A_BYTE_FREE -> page.end == Page.PAYLOAD - 1;
        case FULL_WITHOUT_BIN -> page.full() && page.bins == 0;
        case FULL_OF_ONE_BIN -> page.bins == 1 && page.full() && !page.continues;
        case BLOCK_HEADER_CUT -> false; // pages do not show it
      };
    }
  }

  /** Builds and checks a database in a directory, and says which edges it has. */
  private interface Attempt {
    Set<Edge> run(Path target) throws Exception;
  }

  /** Attempts until all of these edges have been seen; most have all of them. */
  private void seeAll(Set<Edge> expected, Attempt attempt) throws Exception {
    Set<Edge> seen = EnumSet.noneOf(Edge.class);
    for (int i = 0; i < 20 && !seen.containsAll(expected); i++) {
      truth = new Truth();
      seen.addAll(attempt.run(directory.resolve("db" + i)));
    }
    assertThat(seen).containsAll(expected);
  }

  private static Set<Edge> edges(List<Filled> pages) {
    Set<Edge> edges = EnumSet.noneOf(Edge.class);
    for (Edge edge : Edge.values()) {
      if (pages.stream().anyMatch(edge::of)) {
        edges.add(edge);
      }
    }
    return edges;
  }

  /** A key and the first half of its signature. */
  private record Key(byte[] bytes, long high) {}

  /** Random keys in the order of their signatures, by their bins. */
  private List<List<Key>> keys(int count, PackedShape shape) {
    List<Key> keys = new ArrayList<>();
    SignatureFunction function = SignatureFunction.of(BuildOptions.defaults());
    Signature signature = new Signature();
    for (int i = 0; i < count; i++) {
      byte[] key = Truth.bytes(random, KEY);
      function.sign(key, 0, KEY, signature);
      keys.add(new Key(key, signature.high));
    }
    keys.sort(Comparator.comparing(Key::high, Long::compareUnsigned));
    List<List<Key>> bins = new ArrayList<>();
    for (int i = 0; i < shape.bins(); i++) {
      bins.add(new ArrayList<>());
    }
    keys.forEach(key -> bins.get((int) BinIndex.bin(key.high, shape.bins())).add(key));
    return bins;
  }

  /**
   * A page: how many bins start in it, where its records end, and whether they continue in the next
   * page.
   */
  private record Filled(int bins, int end, boolean continues) {
    boolean full() {
      return end == Page.PAYLOAD;
    }
  }

  /** Fills pages as FORMAT.md section 12 says. */
  private static final class Model {
    final List<Filled> pages = new ArrayList<>();
    private final PackedShape shape;
    private final int files;
    private int bin;
    private int bins;
    private int used;
    private boolean severalPages;

    Model(PackedShape shape, int files) {
      this.shape = shape;
      this.files = files;
    }

    /** Bytes that still fit in the page. */
    int room() {
      return Page.PAYLOAD - PackedPage.directory(bins) - used;
    }

    /** Bytes of the next bin that would fit in the page where it may start. */
    int roomForBin() {
      boolean next = bins == PackedPage.MOST_BINS || severalPages || startsFile();
      return next ? Page.PAYLOAD - PackedPage.directory(1) : room() - 2;
    }

    private boolean startsFile() {
      long perUnit = shape.bins() / shape.units();
      long unit = bin / perUnit;
      return bin > 0
          && bin % perUnit == 0
          && unit * files / shape.units() > (unit - 1) * files / shape.units();
    }

    void startBin(int length) {
      int free = room() - 2;
      boolean fits = shape.spanning() ? free >= Math.min(1, length) : free >= length;
      boolean empty = bins == 0 && used == 0;
      if (bins == PackedPage.MOST_BINS || severalPages || startsFile() || !fits && !empty) {
        end(false);
      }
      bin++;
      bins++;
    }

    void put(int length) {
      for (int left = length; left > 0; ) {
        if (room() == 0) {
          end(true);
          severalPages = !shape.spanning();
        }
        int part = Math.min(left, room());
        used += part;
        left -= part;
      }
    }

    void end(boolean continues) {
      pages.add(new Filled(bins, PackedPage.directory(bins) + used, continues));
      bins = 0;
      used = 0;
      severalPages = false;
    }
  }

  /** The pages of a database. */
  private static List<Filled> pages(Path target) throws IOException {
    List<Filled> pages = new ArrayList<>();
    for (Path file : Golden.files(target)) {
      if (file.getFileName().toString().startsWith("data-")) {
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = Page.SIZE; at < bytes.capacity() - Page.SIZE; at += Page.SIZE) {
          int head = bytes.getShort(at);
          int bins = PackedPage.bins(head);
          int end = bytes.getShort(at + PackedPage.entry(bins));
          pages.add(new Filled(bins, end, PackedPage.continues(head)));
        }
      }
    }
    return pages;
  }

  private void add(byte[] key, int length) {
    truth.add(key, Truth.bytes(random, length - LEAST));
    truth.absent(Truth.bytes(random, KEY));
  }

  private long bytes() {
    return truth.records().stream()
        .mapToLong(record -> RecordFrame.length(record.key().length, record.value().length))
        .sum();
  }

  /**
   * The length of a bin: so often of a thousand times one that takes it to the end of a page, else
   * a short one.
   */
  private int length(int records, Model model, int often) {
    int around = random.nextInt(5) - 2;
    int least = records * LEAST;
    int free = model.roomForBin();
    if (random.nextInt(1000) >= often) {
      return least + random.nextInt(20 * records);
    }
    int length =
        switch (random.nextInt(8)) {
          case 0, 1 -> Page.PAYLOAD - PackedPage.directory(1) + around / 2; // alone in its page
          case 2 -> Page.PAYLOAD - PackedPage.directory(1) + FULL + around;
          case 3 -> free + (1 + random.nextInt(3)) * FULL + around;
          default -> free + around;
        };
    return Math.max(least, length);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void binsEndAroundTheEndOfAPage(boolean spanning) throws Exception {
    seeAll(EnumSet.range(Edge.FULL_AND_CONTINUED, Edge.FULL_OF_ONE_BIN), t -> bins(t, spanning));
  }

  private Set<Edge> bins(Path target, boolean spanning) throws Exception {
    int count = spanning ? 700 : 9000;
    PackedShape shape = PackedShape.of(count, count * (spanning ? 1000L : 100));
    assertThat(shape.spanning()).isEqualTo(spanning);
    Model model = new Model(shape, 2);
    for (List<Key> bin : keys(count, shape)) {
      int left = bin.isEmpty() ? 0 : length(bin.size(), model, spanning ? 600 : 15);
      model.startBin(left);
      int large = random.nextInt(bin.size() + 1);
      for (int i = 0; i < bin.size(); i++) {
        int rest = left - (bin.size() - 1 - i) * LEAST;
        int length = i == large || i == bin.size() - 1 ? rest : LEAST;
        add(bin.get(i).bytes, length);
        model.put(length);
        left -= length;
      }
    }
    model.end(false);
    assertThat(PackedShape.of(count, bytes())).isEqualTo(shape);

    truth.build(target, BuildOptions.defaults().withLayout(Layout.PACKED).withDataFiles(2));

    assertThat(pages(target)).isEqualTo(model.pages);
    truth.check(target);
    return edges(model.pages);
  }

  /** The blocks of a bin, one of which is open. */
  private static final class Blocks {
    private final Model model;
    private final BlockCompressor compressor;
    private final ByteArrayOutputStream open = new ByteArrayOutputStream();

    /** Headers of blocks that two pages share. */
    int headersCut;

    int compressed;

    Blocks(Model model, BlockCompressor compressor) {
      this.model = model;
      this.compressor = compressor;
    }

    /** Bytes that are left in the page behind the open block. */
    int room() {
      return model.room() - (open.size() == 0 ? 0 : header() + content());
    }

    private byte[] frame() {
      return compressor.frame(open.toByteArray(), 0, open.size());
    }

    private int content() {
      byte[] frame = frame();
      return frame == null ? open.size() : frame.length;
    }

    private int header() {
      byte[] frame = frame();
      byte[] header = new byte[BlockFrame.MAX];
      return 1
          + (frame == null
              ? BlockFrame.putStored(header, open.size())
              : BlockFrame.putCompressed(header, open.size(), frame.length));
    }

    void add(byte[] key, byte[] value) {
      int length = LEAST + value.length;
      if (value.length > RecordFrame.SHORT_VALUE) {
        length += RecordFrame.WIDE - RecordFrame.SHORT;
      }
      if (open.size() + length > BLOCK) {
        end();
      }
      byte[] header = new byte[RecordFrame.WIDE];
      open.write(header, 0, RecordFrame.put(header, 0, key.length, value.length));
      open.writeBytes(key);
      open.writeBytes(value);
    }

    void end() {
      if (open.size() > 0) {
        int header = header();
        int content = content();
        headersCut += model.room() > 0 && model.room() < header ? 1 : 0;
        compressed += content < open.size() ? 1 : 0;
        model.put(header + content);
        open.reset();
      }
    }
  }

  /** A value that makes a record of a length, and can be compressed or not. */
  private byte[] value(int length, boolean compressible) {
    byte[] value = new byte[length - LEAST];
    if (!compressible) {
      random.nextBytes(value);
    }
    return value;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void blocksEndAroundTheEndOfAPage(int files) throws Exception {
    seeAll(
        EnumSet.of(
            Edge.FULL_AND_CONTINUED,
            Edge.FULL_AT_THE_END_OF_A_BIN,
            Edge.A_BYTE_FREE,
            Edge.BLOCK_HEADER_CUT),
        target -> blocks(target, files));
  }

  private Set<Edge> blocks(Path target, int files) throws Exception {
    int count = 1400;
    int bytes = 256 * 2 * BLOCK;
    PackedShape shape = PackedShape.compressed(count, bytes, BLOCK);
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(Layout.PACKED_COMPRESSED)
            .withBlockSize(BLOCK)
            .withDictionaryBytes(0)
            .withDataFiles(files);
    Model model = new Model(shape, files);
    int left = bytes;
    int done = 0;
    int headersCut;
    try (BlockCompressor compressor = new BlockCompressor(options.compressionLevel(), null)) {
      Blocks blocks = new Blocks(model, compressor);
      for (List<Key> bin : keys(count, shape)) {
        model.startBin(bin.size());
        for (int i = 0; i < bin.size(); i++) {
          Key key = bin.get(i);
          boolean last = i == bin.size() - 1;
          int behind = LEFT_IN_PAGE[random.nextInt(LEFT_IN_PAGE.length)];
          int edge = blocks.room() - 3 - behind; // its block has a header of three bytes
          boolean toEdge =
              edge > BLOCK
                  && edge < 3 * BLOCK
                  && left > 10_000
                  && (last || random.nextInt(10) == 0);
          byte[] value =
              toEdge
                  ? value(edge, false)
                  : value(LEAST + random.nextInt(130), random.nextBoolean());
          if (++done == count) { // fills up to the number of bytes that gives the bins
            value = value(left - (RecordFrame.WIDE - RecordFrame.SHORT), false);
          }
          blocks.add(key.bytes, value);
          truth.add(key.bytes, value);
          truth.absent(Truth.bytes(random, KEY));
          left -= LEAST + value.length;
        }
        blocks.end();
      }
      model.end(false);
      assertThat(PackedShape.compressed(count, bytes(), BLOCK)).isEqualTo(shape);
      assertThat(blocks.compressed).isGreaterThan(100);
      headersCut = blocks.headersCut;
    }

    truth.build(target, options);

    assertThat(pages(target)).isEqualTo(model.pages);
    truth.check(target);
    Set<Edge> edges = edges(model.pages);
    if (headersCut > 0) {
      edges.add(Edge.BLOCK_HEADER_CUT);
    }
    return edges;
  }
}
