package tech.bsdb.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.PagesFile;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.Extent;
import tech.bsdb.io.MappedEngine;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Window;

/** What is written into pages of bins is found there by key, and in order by a scan. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PackedPagesTest {
  /** The longest bin of an aligned page. */
  private static final int MOST_ALIGNED = Page.PAYLOAD - PackedPage.directory(1);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PackedPagesTest");
  private final Set<ByteBuffer> keys = new HashSet<>();
  private final List<List<Truth.Entry>> bins = new ArrayList<>();
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** A key that was not made before. */
  private byte[] key(int length) {
    byte[] key = Truth.bytes(random, length);
    while (!keys.add(ByteBuffer.wrap(key))) {
      key = Truth.bytes(random, length);
    }
    return key;
  }

  private Truth.Entry entry(int keyLength, int valueLength) {
    return new Truth.Entry(key(keyLength), Truth.bytes(random, valueLength));
  }

  private void bin(Truth.Entry... records) {
    bins.add(List.of(records));
  }

  private void emptyBins(int count) {
    for (int i = 0; i < count; i++) {
      bin();
    }
  }

  private void smallBins(int count) {
    for (int i = 0; i < count; i++) {
      List<Truth.Entry> records = new ArrayList<>();
      for (int j = random.nextInt(4); j > 0; j--) {
        records.add(entry(4 + random.nextInt(12), random.nextInt(4)));
      }
      bins.add(records);
    }
  }

  private static int length(Truth.Entry record) {
    return (int) RecordFrame.length(record.key().length, record.value().length);
  }

  private static long length(List<Truth.Entry> bin) {
    return bin.stream().mapToLong(PackedPagesTest::length).sum();
  }

  private static int filterBit(byte[] key) {
    return Arrays.hashCode(key) & 3;
  }

  private static int filter(List<Truth.Entry> bin) {
    return bin.stream()
        .mapToInt(record -> 1 << filterBit(record.key()))
        .reduce(0, (one, other) -> one | other);
  }

  private static byte[] framed(Truth.Entry record) {
    byte[] bytes = new byte[length(record)];
    int at = RecordFrame.put(bytes, 0, record.key().length, record.value().length);
    System.arraycopy(record.key(), 0, bytes, at, record.key().length);
    System.arraycopy(record.value(), 0, bytes, at + record.key().length, record.value().length);
    return bytes;
  }

  /** The files of the bins. */
  private record Packed(List<PagesFile> files, BinIndex index, boolean spanning) {
    List<DataFile> open(Engine engine, boolean verify) throws IOException {
      List<DataFile> opened = new ArrayList<>();
      for (PagesFile file : files) {
        opened.add(new DataFile(file.open(engine, verify), file.check(), 0));
      }
      return opened;
    }
  }

  /** Writes the bins into so many files, each of which gets about as many. */
  private Packed write(boolean spanning, int fileCount) throws IOException {
    List<PagesFile> files = new ArrayList<>();
    for (int i = 0; i < fileCount; i++) {
      files.add(
          new PagesFile(directory.resolve("data-" + made++), new FileIdentity(FileKind.DATA, i)));
    }
    BinIndex.Builder index = new BinIndex.Builder(bins.size(), spanning);
    PackedWriter writer =
        new PackedWriter(files.stream().map(PagesFile::pages).toList(), spanning, index::add);
    for (int i = 0; i < bins.size(); i++) {
      writer.enter(i, bins.size());
      assertThat(writer.file()).isEqualTo((int) ((long) i * fileCount / bins.size()));
      List<Truth.Entry> bin = bins.get(i);
      writer.startBin(length(bin), i % 3 == 0 ? 0 : filter(bin));
      for (Truth.Entry record : bin) {
        byte[] bytes = framed(record);
        int cut = random.nextInt(bytes.length + 1);
        writer.put(bytes, 0, cut);
        writer.put(bytes, cut, bytes.length - cut);
      }
    }
    writer.finish();
    long pages = 0;
    for (PagesFile each : files) {
      pages += each.close().pages().pages() - 1;
    }
    Packed packed = new Packed(files, index.build(), spanning);
    assertThat(packed.index.pages()).isEqualTo(pages);
    return packed;
  }

  /** Finds the value of a key as a lookup does. */
  private static byte @Nullable [] find(
      BinIndex index,
      PackedReader reader,
      long place,
      byte[] key,
      Extent extent,
      Values values,
      Scratch scratch)
      throws IOException {
    long page = BinIndex.firstPage(place);
    int slot = BinIndex.slot(place);
    reader.locate(page, BinIndex.pages(place), extent);
    extent.read();
    int starting = index.starting(place);
    PackedReader.touchLikely(extent.buffer(), extent.offset(), slot, starting);
    byte[] array = reader.value(page, slot, starting, filterBit(key), key, extent, values, scratch);
    return array == null
        ? null
        : Arrays.copyOfRange(array, values.offset(), values.offset() + values.length(array));
  }

  private void check(Packed packed) throws IOException {
    checkFinds(packed, new MappedEngine(), Values.separate());
    checkFinds(packed, new BufferedEngine(), Values.contiguous());
    checkScan(packed, true);
    checkScan(packed, false);
    checkStream(packed);
    checkExtents(packed);
  }

  private void checkFinds(Packed packed, Engine engine, Values values) throws IOException {
    Extent extent = new Extent();
    try (PackedReader reader = new PackedReader(packed.open(engine, true));
        Scratch scratch = new Scratch()) {
      for (int i = 0; i < bins.size(); i++) {
        long place = packed.index.placeOf(i);
        for (Truth.Entry record : bins.get(i)) {
          byte[] found = find(packed.index, reader, place, record.key(), extent, values, scratch);
          Truth.same(found, record.value(), "a value of bin " + i);
          byte[] near = record.key().clone();
          if (near.length > 0) {
            near[random.nextInt(near.length)] ^= (byte) (1 << random.nextInt(8));
            if (!keys.contains(ByteBuffer.wrap(near))) {
              assertThat(find(packed.index, reader, place, near, extent, values, scratch)).isNull();
            }
          }
          values.clear();
        }
        byte[] absent = Truth.bytes(random, random.nextInt(40));
        if (!keys.contains(ByteBuffer.wrap(absent))) {
          assertThat(find(packed.index, reader, place, absent, extent, values, scratch)).isNull();
        }
      }
    }
  }

  private static RecordScanner scan(Packed packed, boolean values) throws IOException {
    return new RecordScanner(
        packed.open(new BufferedEngine(), true),
        Layout.PACKED,
        RecordAddress.of(Layout.PACKED, 2),
        null,
        values,
        FileRange.whole(packed.files.size()));
  }

  private void checkScan(Packed packed, boolean values) throws IOException {
    try (RecordScanner scanner = scan(packed, values)) {
      for (List<Truth.Entry> bin : bins) {
        for (Truth.Entry record : bin) {
          assertThat(scanner.next()).isTrue();
          Truth.same(scanner.key(), record.key(), "key");
          if (values) {
            Truth.same(scanner.value(), record.value(), "value");
          }
        }
      }
      assertThat(scanner.next()).isFalse();
      assertThat(scanner.next()).isFalse();
    }
  }

  /** A stream has the same records, and reads values that it skipped by their places. */
  private void checkStream(Packed packed) throws IOException {
    List<DataFile> files = packed.open(new BufferedEngine(), true);
    try {
      RecordScanner stream =
          RecordScanner.inPlace(files, RecordScanner.AHEAD, RecordScanner.NO_END, new Window());
      for (List<Truth.Entry> bin : bins) {
        for (Truth.Entry record : bin) {
          assertThat(stream.next()).isTrue();
          Truth.same(part(stream, stream.keyFrom(), stream.keyLength()), record.key(), "key");
          assertThat(stream.valueLength()).isEqualTo(record.value().length);
          byte[] value;
          if (stream.isLong()) {
            value = new byte[stream.valueLength()];
            PageCursor.ofValue(files, stream.place(), value.length).read(value, 0, value.length);
          } else {
            int from = stream.keyFrom() + stream.keyLength();
            value = part(stream, from, stream.valueLength());
          }
          Truth.same(value, record.value(), "value");
        }
      }
      assertThat(stream.next()).isFalse();
    } finally {
      DataFile.closeAll(files);
    }
  }

  private static byte[] part(RecordScanner stream, int from, int length) {
    return Arrays.copyOfRange(stream.bytes(), from, from + length);
  }

  /** Every bin starts where the index says, and lies in the pages that it says. */
  private void checkExtents(Packed packed) throws IOException {
    List<DataFile> files = packed.open(new BufferedEngine(), true);
    Extent extent = new Extent();
    try (PackedReader reader = new PackedReader(files)) {
      long firstOfFile = 0;
      int file = 0;
      for (int i = 0; i < bins.size(); i++) {
        long place = packed.index.placeOf(i);
        long first = BinIndex.firstPage(place);
        while (first >= firstOfFile + files.get(file).pages().pages() - 2) {
          firstOfFile += files.get(file++).pages().pages() - 2;
        }
        reader.locate(first, BinIndex.pages(place), extent);
        extent.read();
        PageCursor cursor = new PageCursor(files.get(file), extent);
        cursor.enterBin(extent.first(), BinIndex.slot(place), true);
        long length = length(bins.get(i));
        cursor.skip(length);
        long last = firstOfFile + cursor.page();
        assertThat(cursor.hasMore()).isFalse();
        assertThat(last).isBetween(first, first + BinIndex.pages(place) - 1);
        if (!packed.spanning && length <= MOST_ALIGNED) {
          assertThat(last).as("a bin of " + length + " bytes").isEqualTo(first);
        }
        if (!packed.spanning) {
          int full = Page.PAYLOAD - PackedPage.directory(0);
          long pages = length <= MOST_ALIGNED ? 1 : 1 + (length - MOST_ALIGNED + full - 1) / full;
          assertThat(last - first + 1).isEqualTo(pages);
          assertThat(BinIndex.pages(place)).isEqualTo((int) pages);
        }
      }
    }
  }

  private void checkAll() throws IOException {
    for (int files : new int[] {1, 3}) {
      check(write(false, files));
      check(write(true, files));
    }
  }

  @Test
  void oneBin() throws Exception {
    bin();
    check(write(false, 1));
    check(write(true, 1));
    bins.clear();
    bin(entry(5, 7));
    check(write(false, 1));
    check(write(true, 1));
  }

  @Test
  void moreFilesThanBins() throws Exception {
    bin(entry(5, 7));
    check(write(false, 4));
    check(write(true, 4));
    bin(entry(5, 3 * Page.SIZE));
    check(write(false, 5));
    check(write(true, 5));
  }

  @Test
  void smallRecords() throws Exception {
    bin(entry(0, 3));
    smallBins(3000);
    checkAll();
  }

  @Test
  void emptyBins() throws Exception {
    for (int count : new int[] {1, 2, 254, 255, 256, 257, 258, 600, 1024}) {
      emptyBins(count);
      bin(entry(3 + random.nextInt(3), random.nextInt(4)));
    }
    emptyBins(257);
    checkAll();
  }

  @Test
  void emptyBinsAroundBinsOfManyPages() throws Exception {
    for (int i = 0; i < 10; i++) {
      emptyBins(random.nextInt(300));
      bin(entry(6, 4000 + random.nextInt(200)));
      emptyBins(random.nextInt(4));
      bin(entry(6, 20_000 + random.nextInt(9000)));
    }
    emptyBins(257);
    checkAll();
  }

  @Test
  void binsThatEndAroundTheEndOfAPage() throws Exception {
    for (int length = 4070; length <= 4100; length++) {
      bin(entry(8, length - 8 - RecordFrame.SHORT));
      if (random.nextBoolean()) {
        emptyBins(random.nextInt(3));
      }
      if (random.nextBoolean()) {
        bin(entry(8, random.nextInt(4)));
      }
    }
    for (int length = 2 * 4080; length <= 2 * 4100; length++) {
      bin(entry(8, length - 8 - RecordFrame.SHORT));
      if (random.nextInt(3) == 0) {
        bin(entry(8, random.nextInt(4)));
      }
    }
    checkAll();
  }

  @Test
  void restsThatFillWholePages() throws Exception {
    int whole = Page.PAYLOAD - PackedPage.directory(0);
    for (int pages = 2; pages <= 6; pages++) {
      for (int more = -1; more <= 1; more++) {
        int length = MOST_ALIGNED + pages * whole + more;
        bin(entry(8, length - 8 - RecordFrame.SHORT));
        bin(entry(8, 5));
        bin(entry(8, length - 100 - 8 - RecordFrame.SHORT), entry(8, 100 - 8 - RecordFrame.SHORT));
      }
    }
    checkAll();
    for (int pages = 2; pages <= 6; pages++) {
      bins.clear();
      bin(entry(8, MOST_ALIGNED + pages * whole - 8 - RecordFrame.SHORT)); // ends the file, too
      check(write(false, 1));
      check(write(true, 1));
    }
  }

  /** Whole bins give the same pages as their parts, wherever the page ends among them. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void wholeBinsAreWrittenAsTheirPartsAre(boolean spanning) throws Exception {
    PagesFile parts = new PagesFile(directory.resolve("parts"), new FileIdentity(FileKind.DATA, 0));
    PagesFile whole = new PagesFile(directory.resolve("whole"), new FileIdentity(FileKind.DATA, 0));
    PackedWriter one = new PackedWriter(List.of(parts.pages()), spanning, bins -> {});
    PackedWriter other = new PackedWriter(List.of(whole.pages()), spanning, bins -> {});
    for (int round = 0; round < Rounds.of(1000); round++) {
      int count = 1 + random.nextInt(40);
      ByteArrayOutputStream records = new ByteArrayOutputStream();
      int[] ends = new int[count];
      byte[] filters = new byte[count];
      for (int i = 0; i < count; i++) {
        int longest = random.nextInt(50) == 0 ? 9000 : 30;
        byte[] bin = Truth.bytes(random, random.nextInt(longest));
        filters[i] = (byte) random.nextInt(16);
        one.startBin(bin.length, filters[i]);
        one.put(bin, 0, bin.length);
        records.writeBytes(bin);
        ends[i] = records.size();
      }
      other.putBins(records.toByteArray(), ends, filters, ends.length);
    }
    one.finish();
    other.finish();
    Truth.same(whole.bytes(), parts.bytes(), "pages");
  }

  @ParameterizedTest
  @ValueSource(ints = {Page.PAYLOAD + 1, Page.SIZE - 1})
  void aDirectoryThatPointsBeyondTheRecordsIsRefused(int end) throws Exception {
    bin(entry(8, 5));
    Packed packed = write(false, 1);
    PagesFile file = packed.files.get(0);
    byte[] content = file.bytes();
    int at = Page.SIZE + PackedPage.entry(1);
    content[at] = (byte) end;
    content[at + 1] = (byte) (end >>> 8);
    file.seal(content, 1);
    file.replace(content);
    try (PackedReader reader = new PackedReader(packed.open(new BufferedEngine(), true));
        Scratch scratch = new Scratch()) {
      byte[] key = bins.get(0).get(0).key();
      long place = packed.index.placeOf(0);
      assertThatThrownBy(
              () ->
                  find(packed.index, reader, place, key, new Extent(), Values.separate(), scratch))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("to " + end);
    }
  }

  @Test
  void recordsThatEndAroundTheEndOfAPage() throws Exception {
    for (int room = 0; room < 40; room++) {
      // Fill a page of a few bins but for some bytes, then go on with one more record.
      bin(entry(8, 100), entry(8, 4000 - room), entry(300, 5));
      bin(entry(8, room), entry(8, 2), entry(8, room));
    }
    checkAll();
  }

  @Test
  void longRecords() throws Exception {
    for (int valueLength : new int[] {32_509, 32_510, 32_511, 40_000, 65_535, 65_536, 1 << 20}) {
      bin(entry(9, 3), entry(9, valueLength), entry(9, 3));
      smallBins(3);
    }
    bin(entry(0, 70_000));
    bin(entry(255, 10), entry(256, 10), entry(65_535, 10), entry(65_535, 70_000), entry(4, 4));
    bin(entry(7, 300 * Page.SIZE), entry(7, 300 * Page.SIZE), entry(7, 1));
    bin(entry(65_534, 0));
    checkAll();
  }

  @Test
  void binsOfManyRecords() throws Exception {
    for (int count : new int[] {200, 1500}) {
      Truth.Entry[] records = new Truth.Entry[count];
      for (int i = 0; i < count; i++) {
        records[i] = entry(8 + random.nextInt(8), random.nextInt(30));
      }
      bin(records);
      smallBins(20);
    }
    checkAll();
  }

  @Test
  void randomBins() throws Exception {
    for (int round = 0; round < 10; round++) {
      bins.clear();
      for (int i = random.nextInt(60); i >= 0; i--) {
        switch (random.nextInt(8)) {
          case 0 -> emptyBins(1 + random.nextInt(300));
          case 1, 2, 3 -> smallBins(1 + random.nextInt(200));
          case 4 -> bin(entry(9, random.nextInt(5000)), entry(9, random.nextInt(5000)));
          case 5 -> bin(entry(9, random.nextInt(20_000)));
          case 6 -> bin(entry(9, 3500 + random.nextInt(600)));
          default -> bin(entry(300 + random.nextInt(600), random.nextInt(40_000)));
        }
      }
      bin(entry(12, 1));
      boolean spanning = random.nextBoolean();
      check(write(spanning, 1 + random.nextInt(3)));
    }
  }

  @Test
  void pagesOfSkippedValuesAreNotRead() throws Exception {
    bin(entry(9, 5 << 20), entry(9, 5 << 20), entry(9, 5));
    bin(entry(9, 7 << 20));
    bin(entry(9, 7));
    Packed packed = write(true, 1);
    PagesFile file = packed.files.get(0);
    ReadCount reads = new ReadCount();
    long length = packed.index.pages() + 2;
    CheckedPages pages =
        new CheckedPages(
            new BufferedEngine().open(directory.resolve("data-0"), length * Page.SIZE),
            length,
            (window, at, page) -> file.check().check(window.buffer(), at, page),
            false,
            reads);
    try (RecordScanner scanner =
        new RecordScanner(
            List.of(new DataFile(pages, file.check(), 0)),
            Layout.PACKED,
            RecordAddress.of(Layout.PACKED, 2),
            null,
            false,
            FileRange.whole(1))) {
      for (List<Truth.Entry> bin : bins) {
        for (Truth.Entry record : bin) {
          assertThat(scanner.next()).isTrue();
          Truth.same(scanner.key(), record.key(), "key");
        }
      }
      assertThat(scanner.next()).isFalse();
    }
    assertThat(reads.bytes()).as("of " + length * Page.SIZE).isLessThan(2 << 20);
  }

  private void bins(int rounds) {
    for (int i = 0; i < rounds; i++) {
      smallBins(150);
      bin(entry(9, 6000), entry(9, 6000));
      bin(entry(9, 40_000), entry(9, 5));
    }
  }

  /** A page that turns to zeros after its verification: no key disappears, no value changes. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aZeroedPageIsNotAnAnswer(boolean spanning) throws Exception {
    bins(1);
    Packed packed = write(spanning, 1);
    PagesFile file = packed.files.get(0);
    byte[] intact = file.bytes();
    for (int page = 1; page <= packed.index.pages(); page++) {
      byte[] damaged = intact.clone();
      Arrays.fill(damaged, page * Page.SIZE, (page + 1) * Page.SIZE, (byte) 0);
      file.replace(damaged);
      int failures = 0;
      Extent extent = new Extent();
      try (PackedReader reader = new PackedReader(packed.open(new MappedEngine(), false));
          Scratch scratch = new Scratch()) {
        for (int i = 0; i < bins.size(); i++) {
          for (Truth.Entry record : bins.get(i)) {
            try {
              long place = packed.index.placeOf(i);
              byte[] found =
                  find(
                      packed.index,
                      reader,
                      place,
                      record.key(),
                      extent,
                      Values.separate(),
                      scratch);
              Truth.same(found, record.value(), "page " + page + ", bin " + i);
            } catch (CorruptDatabaseException expected) {
              failures++;
            }
          }
        }
      }
      assertThat(failures).as("page " + page).isPositive();
      assertThatThrownBy(() -> scanAll(packed)).isInstanceOf(CorruptDatabaseException.class);
    }
  }

  private static void scanAll(Packed packed) throws IOException {
    try (RecordScanner scanner =
        new RecordScanner(
            packed.open(new MappedEngine(), false),
            Layout.PACKED,
            RecordAddress.of(Layout.PACKED, 2),
            null,
            true,
            FileRange.whole(packed.files.size()))) {
      while (scanner.next()) {
        assertThat(scanner.address()).isNotNegative();
      }
    }
  }

  /**
   * Whatever bytes pages hold, lookups and scans end, and fail only by saying that they are
   * damaged.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void damagedPagesEndInAnAnswerOrANamedError(boolean spanning) throws Exception {
    bins(2);
    Packed packed = write(spanning, 1);
    PagesFile file = packed.files.get(0);
    byte[] intact = file.bytes();
    for (int round = 0; round < 150; round++) {
      file.replace(damaged(intact, round));
      try {
        scanAll(packed);
      } catch (CorruptDatabaseException expected) {
        assertThat(expected.file()).isNotNull();
      }
      Extent extent = new Extent();
      try (PackedReader reader = new PackedReader(packed.open(new MappedEngine(), false));
          Scratch scratch = new Scratch()) {
        for (int i = 0; i < bins.size(); i++) {
          byte[] key = bins.get(i).isEmpty() ? new byte[9] : bins.get(i).get(0).key();
          long place = packed.index.placeOf(i);
          try {
            find(packed.index, reader, place, key, extent, Values.separate(), scratch);
          } catch (CorruptDatabaseException expected) {
            assertThat(expected.file()).isNotNull();
          }
        }
      }
    }
  }

  /** Changes directories, headers, any bytes, or all bytes of a page. */
  private byte[] damaged(byte[] intact, int round) {
    byte[] damaged = intact.clone();
    int pages = intact.length / Page.SIZE - 1;
    for (int i = random.nextInt(6); i >= 0; i--) {
      int page = (1 + random.nextInt(pages)) * Page.SIZE;
      switch (round % 4) {
        case 0 -> damaged[page + random.nextInt(8)] = (byte) random.nextInt();
        case 1 -> damaged[page + random.nextInt(600)] ^= (byte) (1 << random.nextInt(8));
        case 2 -> damaged[page + random.nextInt(Page.SIZE)] = (byte) random.nextInt();
        default -> System.arraycopy(Truth.bytes(random, Page.SIZE), 0, damaged, page, Page.SIZE);
      }
    }
    return damaged;
  }
}
