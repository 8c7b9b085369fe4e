package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.PagesFile;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.SpookyCollision;
import tech.bsdb.Truth;
import tech.bsdb.data.BlockCompressor;
import tech.bsdb.data.CompressedBinReader;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.PackedReader;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;
import tech.bsdb.index.FilterWriter;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Extent;
import tech.bsdb.write.PackStage.KeyReceiver;

/** From spilled records to packed pages, whose bytes depend on nothing but the records. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PackStageTest {
  private static final int BLOCK = 1024;
  private static final int FILTER_BITS = 5;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PackStageTest");
  private final List<Truth.Entry> added = new ArrayList<>();
  private SignatureFunction function =
      SignatureFunction.of(SignatureAlgorithm.SPOOKY, random.nextLong());
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
    assertThat(Leaks.tree(directory)).noneMatch(name -> name.endsWith(".part"));
  }

  /** The result of the stage. */
  private record Packed(
      List<PagesFile> files, BinIndex index, PagesFile filter, long records, Layout layout) {
    RecordScanner scan() throws IOException {
      List<DataFile> files = open();
      List<FileRange> all = FileRange.whole(files.size());
      return new RecordScanner(files, layout, RecordAddress.of(layout, 2), null, true, all);
    }

    byte[] indexBytes() throws IOException {
      PagesFile file = new PagesFile(Path.of("index"), BinIndex.identity());
      index.write(file.pages());
      return file.bytes();
    }

    List<DataFile> open() throws IOException {
      List<DataFile> opened = new ArrayList<>();
      for (PagesFile file : files) {
        opened.add(new DataFile(file.open(new BufferedEngine(), true), file.check(), 0));
      }
      return opened;
    }
  }

  /** The layout to write. */
  Layout layout() {
    return Layout.PACKED;
  }

  /** Bytes of a value. */
  byte[] value(SplittableRandom random, int length) {
    return Truth.bytes(random, length);
  }

  private RecordSpill spill() throws IOException {
    Path own = Files.createDirectory(directory.resolve("spill-" + made++));
    RecordSpill spill = new RecordSpill(own);
    for (Truth.Entry record : added) {
      spill.add(Framed.of(record.key(), record.value(), function));
    }
    spill.finish();
    return spill;
  }

  private Packed pack(long memoryBytes, int threads, DuplicatePolicy kept, int fileCount)
      throws IOException {
    List<PagesFile> files = new ArrayList<>();
    List<PageEncoder> encoders = new ArrayList<>();
    Path own = Files.createDirectory(directory.resolve("packed-" + made++));
    for (int i = 0; i < fileCount; i++) {
      files.add(new PagesFile(own.resolve("data-" + i), new FileIdentity(FileKind.DATA, i)));
      encoders.add(files.get(i).pages());
    }
    try (RecordSpill spill = spill();
        BlockCompressor compressor = new BlockCompressor(3, null)) {
      boolean compressed = layout().isCompressed();
      PackedShape shape =
          compressed
              ? PackedShape.compressed(spill.records(), spill.recordBytes(), BLOCK)
              : PackedShape.of(spill.records(), spill.recordBytes());
      assertThat(shape.bins() % shape.units()).isZero();
      Queue<byte[]> keys = new ConcurrentLinkedQueue<>();
      PackStage stage =
          new PackStage(
              spill,
              shape,
              memoryBytes,
              threads,
              kept,
              function,
              () -> false,
              compressed ? new CompressedBins.Rule(compressor, BLOCK) : null,
              pass -> {
                for (int i = 0; i < pass.records(); i++) {
                  keys.add(Arrays.copyOfRange(pass.bytes(), pass.keyStart(i), pass.keyEnd(i)));
                }
              });
      long[] progress = {0};
      PagesFile filter = new PagesFile(own.resolve("filter"), FilterWriter.identity());
      FilterWriter filtered =
          new FilterWriter(filter.pages(), FilterWriter.facts(FILTER_BITS, spill.records()));
      BinIndex index =
          stage.write(
              encoders,
              filtered,
              done -> {
                assertThat(done).isGreaterThanOrEqualTo(progress[0]);
                progress[0] = done;
              });
      assertThat(progress[0]).isEqualTo(stage.records());
      assertThat(index.bins()).isEqualTo(shape.bins());
      filtered.finish();
      filter.close();
      for (PagesFile file : files) {
        file.close();
      }
      assertThat(sorted(keys))
          .isEqualTo(sorted(expected(kept).stream().map(Truth.Entry::key).toList()));
      return new Packed(files, index, filter, stage.records(), layout());
    }
  }

  /** The keys in order, to be compared. */
  private static List<ByteBuffer> sorted(Collection<byte[]> keys) {
    return keys.stream().map(ByteBuffer::wrap).sorted().toList();
  }

  private Signature signature(byte[] key) {
    Signature signature = new Signature();
    function.sign(key, 0, key.length, signature);
    return signature;
  }

  /** The records to expect, in the order of their signatures and then of the first with the key. */
  private List<Truth.Entry> expected(DuplicatePolicy kept) {
    Map<ByteBuffer, Truth.Entry> byKey = new LinkedHashMap<>();
    for (Truth.Entry record : added) {
      byKey.merge(
          ByteBuffer.wrap(record.key()), record, (a, b) -> kept == DuplicatePolicy.LAST ? b : a);
    }
    record Signed(long high, long low, Truth.Entry record) {}
    return byKey.values().stream()
        .map(
            record -> {
              Signature signature = signature(record.key());
              return new Signed(signature.high, signature.low, record);
            })
        .sorted(
            Comparator.comparing(Signed::high, Long::compareUnsigned)
                .thenComparing(Signed::low, Long::compareUnsigned))
        .map(Signed::record)
        .toList();
  }

  private void check(Packed packed, DuplicatePolicy kept) throws IOException {
    List<Truth.Entry> expected = expected(kept);
    assertThat(packed.records).isEqualTo(expected.size());
    PagesFile filter = new PagesFile(directory.resolve("filter"), FilterWriter.identity());
    FilterWriter writer =
        new FilterWriter(filter.pages(), FilterWriter.facts(FILTER_BITS, added.size()));
    for (Truth.Entry record : expected) {
      Signature signature = signature(record.key());
      writer.add(signature.high, signature.low);
    }
    writer.finish();
    Truth.same(packed.filter.bytes(), filter.close().bytes(), "filter");
    try (RecordScanner scanner = packed.scan()) {
      for (Truth.Entry record : expected) {
        assertThat(scanner.next()).isTrue();
        Truth.same(scanner.key(), record.key(), "key");
        Truth.same(scanner.value(), record.value(), "value");
      }
      assertThat(scanner.next()).isFalse();
    }
    Extent extent = new Extent();
    try (PackedReader pages = new PackedReader(packed.open());
        CompressedBinReader blocks = new CompressedBinReader(pages, null);
        Scratch scratch = new Scratch()) {
      for (Truth.Entry record : expected) {
        Truth.same(
            find(packed.index, pages, blocks, record.key(), extent, scratch),
            record.value(),
            "value");
      }
      for (int i = 0; i < 100; i++) {
        byte[] absent = Truth.bytes(random, 50);
        assertThat(find(packed.index, pages, blocks, absent, extent, scratch)).isNull();
      }
    }
  }

  private byte[] find(
      BinIndex index,
      PackedReader pages,
      CompressedBinReader blocks,
      byte[] key,
      Extent extent,
      Scratch scratch)
      throws IOException {
    Signature signature = signature(key);
    long place = index.place(signature.high, signature.low);
    long page = BinIndex.firstPage(place);
    int slot = BinIndex.slot(place);
    int part = BinIndex.part(signature(key).high, index.bins());
    pages.locate(page, BinIndex.pages(place), extent);
    extent.read();
    return layout().isCompressed()
        ? blocks.value(page, slot, part, key, extent, Values.separate(), scratch)
        : pages.value(
            page,
            slot,
            index.starting(place),
            BinIndex.detail(place),
            key,
            extent,
            Values.separate(),
            scratch);
  }

  private void addRandom(int count, int longestKey, int longestValue) {
    int from = added.size();
    Map<ByteBuffer, Integer> present = new LinkedHashMap<>();
    added.forEach(record -> present.put(ByteBuffer.wrap(record.key()), 0));
    while (added.size() < from + count) {
      byte[] key = Truth.bytes(random, random.nextInt(longestKey + 1));
      if (present.put(ByteBuffer.wrap(key), 0) == null) {
        added.add(new Truth.Entry(key, value(random, random.nextInt(longestValue + 1))));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 1000, 30_000})
  void allRecordsAreFound(int count) throws Exception {
    addRandom(count, 30, 12);
    check(pack(1 << 24, 2, DuplicatePolicy.ERROR, 1), DuplicatePolicy.ERROR);
    check(pack(1 << 24, 1, DuplicatePolicy.FIRST, 4), DuplicatePolicy.FIRST);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 3000})
  void recordsThatSpanPages(int count) throws Exception {
    addRandom(count, 300, 600);
    assertThat(PackedShape.of(count, count * 400L).spanning()).isTrue();
    check(pack(1 << 20, 2, DuplicatePolicy.ERROR, 1), DuplicatePolicy.ERROR);
    check(pack(1 << 20, 2, DuplicatePolicy.ERROR, 7), DuplicatePolicy.ERROR);
  }

  private void addLong() {
    for (int length : new int[] {16_383, 16_384, 16_385, 32_510, 32_511, 70_000, 3_000_000}) {
      for (int keyLength : new int[] {9, 255, 256, 65_535}) {
        added.add(new Truth.Entry(Truth.bytes(random, keyLength), value(random, length)));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 300, 5000})
  void longValuesAmongShortOnes(int count) throws Exception {
    addRandom(count / 2, 30, 12);
    addLong();
    addRandom(count - count / 2, 30, 12);
    check(pack(1 << 20, 3, DuplicatePolicy.ERROR, 2), DuplicatePolicy.ERROR);
  }

  @Test
  void longValuesInAlignedPages() throws Exception {
    addRandom(30_000, 20, 4);
    added.add(new Truth.Entry(new byte[300], Truth.bytes(random, 200_000)));
    added.add(new Truth.Entry(new byte[301], Truth.bytes(random, 1_100_000)));
    assertThat(PackedShape.of(30_002, 30_000 * 15L + 1_300_000).spanning()).isFalse();
    check(pack(1 << 20, 3, DuplicatePolicy.ERROR, 2), DuplicatePolicy.ERROR);
  }

  @ParameterizedTest
  @ValueSource(ints = {20, 700})
  void bytesDependNeitherOnMemoryNorOnThreads(int longest) throws Exception {
    addRandom(longest > 100 ? 1500 : 12_000, 20, longest);
    for (int i = 0; i < 500; i++) {
      Truth.Entry record = added.get(random.nextInt(added.size()));
      added.add(new Truth.Entry(record.key(), Truth.bytes(random, random.nextInt(longest + 1))));
    }
    addLong();
    for (DuplicatePolicy kept :
        new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
      Packed expected = pack(1 << 30, 1, kept, 3);
      check(expected, kept);
      long[][] memoryAndThreads = {
        {1 << 30, 4}, {1 << 20, 1}, {1 << 20, 2}, {100_000, 4}, {3000, 2}, {700, 1}
      };
      for (long[] each : Rounds.some(List.of(memoryAndThreads), 2, random)) {
        Packed packed = pack(each[0], (int) each[1], kept, 3);
        for (int i = 0; i < 3; i++) {
          Truth.same(
              packed.files.get(i).bytes(),
              expected.files.get(i).bytes(),
              "file " + i + " with " + Arrays.toString(each));
        }
        Truth.same(packed.indexBytes(), expected.indexBytes(), Arrays.toString(each));
        Truth.same(packed.filter.bytes(), expected.filter.bytes(), Arrays.toString(each));
      }
    }
  }

  @Test
  void theLeastMemoryTakesAPassForEachBin() throws Exception {
    addRandom(200, 20, 20);
    Packed expected = pack(1 << 30, 4, DuplicatePolicy.ERROR, 2);
    Packed packed = pack(1, 2, DuplicatePolicy.ERROR, 2);
    Truth.same(packed.files.get(0).bytes(), expected.files.get(0).bytes(), "file 0");
    Truth.same(packed.files.get(1).bytes(), expected.files.get(1).bytes(), "file 1");
  }

  @ParameterizedTest
  @EnumSource(names = {"FIRST", "LAST"})
  void ofEqualKeysOneIsKept(DuplicatePolicy kept) throws Exception {
    addRandom(500, 20, 20);
    added.add(new Truth.Entry(new byte[0], Truth.bytes(random, 20_000)));
    for (int i = 0; i < 3000; i++) {
      byte[] key = added.get(random.nextInt(Math.min(added.size(), 600))).key();
      int length = random.nextInt(30) == 0 ? 16_000 + random.nextInt(1000) : random.nextInt(20);
      added.add(new Truth.Entry(key, Truth.bytes(random, length)));
      addRandom(random.nextInt(2), 20, 20);
    }
    for (int i = 0; i < 100; i++) { // so many that a bin is sorted in the other way
      added.add(new Truth.Entry(added.get(7).key(), new byte[] {(byte) i}));
    }
    check(pack(1 << 20, 3, kept, 2), kept);
    check(pack(5000, 3, kept, 2), kept);
  }

  @Test
  void equalKeysAreRefusedWithTheirNumbers() throws Exception {
    addRandom(2000, 20, 20);
    Truth.Entry record = added.get(random.nextInt(1000));
    int first = added.indexOf(record);
    added.add(new Truth.Entry(record.key(), Truth.bytes(random, 20_000)));
    addRandom(100, 20, 20);
    added.add(new Truth.Entry(record.key(), Truth.bytes(random, 2)));
    for (long memory : new long[] {1 << 30, 3000}) {
      assertThatThrownBy(() -> pack(memory, 2, DuplicatePolicy.ERROR, 2))
          .isInstanceOfSatisfying(
              DuplicateKeyException.class,
              e -> {
                assertThat(e.key()).isEqualTo(record.key());
                assertThat(e.first()).isEqualTo(first);
                assertThat(e.second()).isEqualTo(2000);
              });
    }
  }

  static IntStream rounds() {
    return IntStream.range(0, Rounds.of(4));
  }

  /** Of several keys that occur twice, always the same one is named. */
  @ParameterizedTest
  @MethodSource("rounds")
  void theRefusedKeyDependsNeitherOnMemoryNorOnThreads(int round) throws Exception {
    addRandom(5000, 20, 20);
    int duplicates = round % 2 == 0 ? 200 : 5000;
    for (int i = 0; i < duplicates; i++) {
      added.add(added.get(random.nextInt(added.size())));
    }
    String message = null;
    for (long[] each : new long[][] {{1 << 30, 1}, {1 << 30, 4}, {100_000, 4}, {3000, 2}}) {
      try {
        pack(each[0], (int) each[1], DuplicatePolicy.ERROR, 1);
        throw new AssertionError("nothing was refused");
      } catch (DuplicateKeyException e) {
        message = message == null ? e.getMessage() : message;
        assertThat(e).as(Arrays.toString(each)).hasMessage(message);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void differentKeysWithOneSignatureAreAllKept(DuplicatePolicy kept) throws Exception {
    function = SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0);
    addRandom(1000, 20, 20);
    for (int i = 0; i < 40; i++) { // groups of 2 to 41 keys, so that bins are sorted in both ways
      Signature victim = signature(added.get(i).key());
      for (int salt = 0; salt <= i; salt++) {
        byte[] key = SpookyCollision.key(victim.high, victim.low, salt);
        assertThat(signature(key).low).isEqualTo(victim.low);
        added.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(20))));
      }
    }
    if (kept != DuplicatePolicy.ERROR) {
      for (int i = 0; i < 500; i++) {
        byte[] key = added.get(900 + random.nextInt(900)).key();
        added.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(20))));
      }
    }
    check(pack(1 << 24, 2, kept, 1), kept);
    check(pack(3000, 2, kept, 3), kept);
  }

  /** So many that comparing each with each would take minutes. */
  @Test
  void manyKeysWithOneSignature() throws Exception {
    function = SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0);
    int distinct = Rounds.longOrShort(150_000, 60_000);
    for (int i = 0; i < distinct * 4 / 3; i++) {
      added.add(new Truth.Entry(SpookyCollision.key(42, 43, i % distinct), new byte[i % 5]));
    }
    for (DuplicatePolicy kept :
        new DuplicatePolicy[] {DuplicatePolicy.FIRST, DuplicatePolicy.LAST}) {
      Packed packed = pack(1 << 26, 2, kept, 1);
      List<Truth.Entry> expected = expected(kept);
      assertThat(packed.records).isEqualTo(distinct);
      try (RecordScanner scanner = packed.scan()) {
        for (Truth.Entry record : expected) {
          assertThat(scanner.next()).isTrue();
          Truth.same(scanner.key(), record.key(), "key");
          Truth.same(scanner.value(), record.value(), "value");
        }
        assertThat(scanner.next()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 42, 1L << 63, -1})
  void allRecordsInOneBin(long high) throws Exception {
    function = SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0);
    for (int i = 0; i < Rounds.longOrShort(3000, 1000); i++) {
      added.add(
          new Truth.Entry(
              SpookyCollision.key(high, random.nextLong(), i),
              Truth.bytes(random, random.nextInt(i % 100 == 0 ? 40_000 : 100))));
    }
    Packed packed = pack(1 << 20, 2, DuplicatePolicy.ERROR, 2);
    check(packed, DuplicatePolicy.ERROR);
    byte[] bytes = packed.files.get(0).bytes();
    Truth.same(
        pack(5000, 3, DuplicatePolicy.ERROR, 2).files.get(0).bytes(), bytes, "in less memory");
  }

  @Test
  void signaturesNextToTheBordersOfPartitions() throws Exception {
    function = SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0);
    for (int i = 0; i < RecordSpill.PARTITIONS; i++) {
      long border = (long) i << Long.SIZE - RecordSpill.PARTITION_BITS;
      for (long high : new long[] {border - 1, border, border + 1}) {
        added.add(
            new Truth.Entry(SpookyCollision.key(high, random.nextLong(), i), new byte[i % 5]));
      }
    }
    for (int files : new int[] {1, 3, 16}) {
      check(pack(20_000, 2, DuplicatePolicy.ERROR, files), DuplicatePolicy.ERROR);
    }
  }

  @Test
  void shapesAreWhatTheyPromise() {
    for (int i = 0; i < 10_000; i++) {
      long records = random.nextLong(1L << 1 + random.nextInt(40));
      long bytes = records * 3 + random.nextLong(1 + (records << random.nextInt(20)));
      PackedShape shape = PackedShape.of(records, bytes);
      String name = shape + " of " + records + " records, " + bytes + " bytes";
      assertThat(shape.units()).as(name).isBetween(1, RecordSpill.PARTITIONS);
      assertThat(RecordSpill.PARTITIONS % shape.units()).as(name).isZero();
      assertThat(shape.bins() % shape.units()).as(name).isZero();
      assertThat(shape.bins()).as(name).isBetween(1L, Math.max(1, records + shape.units()));
      if (records > 1000) {
        assertThat((double) bytes / shape.bins()).as(name).isBetween(23.0, Double.MAX_VALUE);
      }
    }
  }

  @Test
  void aCancelledStageEndsAndLeavesNothing() throws Exception {
    addRandom(20_000, 20, 20);
    long[] done = {0};
    try (RecordSpill spill = spill()) {
      PagesFile file = new PagesFile(directory.resolve("data"), new FileIdentity(FileKind.DATA, 0));
      PackStage stage =
          new PackStage(
              spill,
              PackedShape.of(spill.records(), spill.recordBytes()),
              1 << 20,
              3,
              DuplicatePolicy.ERROR,
              function,
              () -> done[0] > 2000,
              null,
              KeyReceiver.NONE);
      assertThatThrownBy(() -> stage.write(List.of(file.pages()), null, more -> done[0] += more))
          .isInstanceOf(CancellationException.class);
      assertThat(done[0]).isLessThan(20_000);
    }
  }

  /** A pass over a small part of the bins of its partitions takes memory for that part only. */
  @Test
  void aPassTakesMemoryForItsOwnBins() throws Exception {
    function = SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0);
    for (int i = 0; i < 4000; i++) {
      long partition = random.nextInt(4);
      long high = partition << 54 | random.nextLong() >>> 10;
      added.add(
          new Truth.Entry(
              SpookyCollision.key(high, random.nextLong(), i), Truth.bytes(random, 10_000)));
    }
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (RecordSpill spill = spill()) {
      long bins = 1 << 20;
      new SortedBins(bins, function, DuplicatePolicy.ERROR).load(spill, range(0, 4, 0, 1));
      long before = threads.getCurrentThreadAllocatedBytes();
      SortedBins sorted = new SortedBins(bins, function, DuplicatePolicy.ERROR);
      sorted.load(spill, range(0, 4, 2048, 2068));
      long taken = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(sorted.records()).isLessThan(200);
      assertThat(taken).as("for " + sorted.records() + " records").isLessThan(8 << 20);
    }
  }

  /** What was in memory before neither shows nor takes memory again. */
  @ParameterizedTest
  @EnumSource
  void aRangeOfBinsTakesTheMemoryOfTheOneBefore(DuplicatePolicy kept) throws Exception {
    for (int i = 0; i < 20_000; i++) {
      added.add(new Truth.Entry(Truth.utf8("key " + i), Truth.bytes(random, random.nextInt(200))));
    }
    for (int i = 0; i < 100 && kept != DuplicatePolicy.ERROR; i++) {
      added.add(new Truth.Entry(added.get(i).key(), Truth.bytes(random, 20)));
    }
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (RecordSpill spill = spill()) {
      long bins = 4 * RecordSpill.PARTITIONS;
      SortedBins reused = new SortedBins(bins, function, kept);
      reused.load(spill, range(0, RecordSpill.PARTITIONS, 0, bins));
      assertThat(reused.records()).isEqualTo(20_000);
      int partitions = 16;
      for (int from = 0; from < RecordSpill.PARTITIONS; from += partitions) {
        SortedBins fresh = new SortedBins(bins, function, kept);
        fresh.load(spill, range(from, from + partitions, 4L * from, 4L * (from + partitions)));
        long before = threads.getCurrentThreadAllocatedBytes();
        reused.load(spill, range(from, from + partitions, 4L * from, 4L * (from + partitions)));
        long taken = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(taken).isLessThan(64 << 10); // that of the spill's reader
        assertThat(reused.hasGrown()).isFalse();
        assertThat(frames(reused)).containsExactlyElementsOf(frames(fresh));
      }
    }
  }

  /** The only pass over some partitions. */
  private static Passes.Range range(int fromPartition, int toPartition, long fromBin, long toBin) {
    return new Passes.Range(0, fromPartition, toPartition, fromBin, toBin, 0, 1);
  }

  /** The bins with their records. */
  private static List<String> frames(SortedBins sorted) {
    List<String> frames = new ArrayList<>();
    for (int bin = 0; bin < sorted.bins(); bin++) {
      for (int i = sorted.start(bin); i < sorted.start(bin + 1); i++) {
        int from = sorted.recordStart(i);
        frames.add(
            bin
                + ": "
                + new String(
                    sorted.bytes(), from, sorted.recordEnd(i) - from, StandardCharsets.ISO_8859_1));
      }
    }
    return frames;
  }

  /** After a duplicate that is refused, the next range is as if there was none. */
  @Test
  void aRangeOfBinsAfterARefusedOneIsWhole() throws Exception {
    for (int i = 0; i < 2_000; i++) {
      added.add(new Truth.Entry(Truth.utf8("key " + i), Truth.utf8("value " + i)));
    }
    byte[] twice = added.get(7).key();
    added.add(new Truth.Entry(twice, Truth.utf8("another")));
    Signature signature = new Signature();
    function.sign(twice, 0, twice.length, signature);
    int of = (int) BinIndex.bin(signature.high, RecordSpill.PARTITIONS);
    try (RecordSpill spill = spill()) {
      SortedBins sorted = new SortedBins(RecordSpill.PARTITIONS, function, DuplicatePolicy.ERROR);
      int found = 0;
      for (int i = 0; i < RecordSpill.PARTITIONS; i++) {
        int partition = i;
        if (partition == of) {
          assertThatThrownBy(() -> sorted.load(spill, range(partition, partition + 1, of, of + 1)))
              .isInstanceOf(DuplicateKeyException.class);
        } else {
          sorted.load(spill, range(partition, partition + 1, partition, partition + 1));
          assertThat((long) sorted.records()).isEqualTo(spill.count(partition));
          found += sorted.records();
        }
      }
      assertThat(found + spill.count(of)).isEqualTo(2_001);
    }
  }

  private static final int COPIES = 20_000;

  /** Loads the only bin of many records with one key, 6 MB in all. */
  private SortedBins loadCopies(RecordSpill spill, DuplicatePolicy kept) throws IOException {
    long bins = 1 << 20;
    byte[] key = added.get(0).key();
    Signature signature = new Signature();
    function.sign(key, 0, key.length, signature);
    long bin = BinIndex.bin(signature.high, bins);
    int partition = (int) (bin * RecordSpill.PARTITIONS / bins);
    SortedBins sorted = new SortedBins(bins, function, kept);
    sorted.load(spill, range(partition, partition + 1, bin, bin + 1));
    return sorted;
  }

  private RecordSpill spillCopies() throws IOException {
    byte[] key = Truth.utf8("again and again");
    for (int i = 0; i < COPIES; i++) {
      added.add(new Truth.Entry(key, Truth.utf8("%0300d".formatted(i))));
    }
    return spill();
  }

  /** The duplicate is found before all copies are in memory. */
  @Test
  void manyCopiesOfOneKeyAreRejectedEarly() throws Exception {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (RecordSpill spill = spillCopies()) {
      long before = threads.getCurrentThreadAllocatedBytes();
      assertThatThrownBy(() -> loadCopies(spill, DuplicatePolicy.ERROR))
          .isInstanceOf(DuplicateKeyException.class);
      assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(2 << 20);
    }
  }

  /** Of many records with one key only a few are in memory at once. */
  @ParameterizedTest
  @EnumSource(names = {"FIRST", "LAST"})
  void manyCopiesOfOneKeyTakeLittleMemory(DuplicatePolicy kept) throws Exception {
    try (RecordSpill spill = spillCopies()) {
      SortedBins sorted = loadCopies(spill, kept);
      assertThat(sorted.records()).isEqualTo(1);
      String record =
          new String(
              sorted.bytes(),
              sorted.recordStart(0),
              sorted.recordEnd(0) - sorted.recordStart(0),
              StandardCharsets.ISO_8859_1);
      assertThat(record)
          .endsWith("%0300d".formatted(kept == DuplicatePolicy.FIRST ? 0 : COPIES - 1));
      assertThat(sorted.bytes().length).isLessThan(64 << 10);
    }
  }
}
