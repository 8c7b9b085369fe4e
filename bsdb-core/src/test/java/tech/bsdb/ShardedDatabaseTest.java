package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CompletionHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.format.KeySlots;
import tech.bsdb.read.AsyncReader;
import tech.bsdb.read.SyncReader;

/** An open set of shards answers as one database. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardedDatabaseTest {
  private static final int RECORDS = 500;

  /** The most bytes of a value, so that an approximate database holds all of it. */
  private static final int WIDTH = 60;

  private static final int[] BATCHES = {1, 63, 128, 129, 1000, 0};

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ShardedDatabaseTest");

  /** Whether slices of mapped files were shown, which Java 17 to 21 unmap some time later. */
  private boolean shown;

  @AfterEach
  void nothingIsHeld() throws Exception {
    if (shown) {
      assertThat(Leaks.openFiles(directory)).isEmpty();
    } else {
      Leaks.assertNone(directory);
    }
  }

  /** Every kind of database. */
  static Map<String, BuildOptions> kinds() {
    BuildOptions options = BuildOptions.defaults().withDictionaryBytes(1024).withThreads(2);
    Map<String, BuildOptions> kinds = new LinkedHashMap<>();
    for (Layout layout : Layout.values()) {
      kinds.put(layout.name(), options.withLayout(layout).withDataFiles(2));
    }
    kinds.put("filter", options.withLayout(Layout.PACKED).withFilterBits(9));
    kinds.put("gov", options.withHash(HashAlgorithm.GOV).withChecksumBits(9));
    kinds.put("approximate", options.withApproximateWidth(WIDTH).withChecksumBits(32));
    return kinds;
  }

  static Stream<String> names() {
    return kinds().keySet().stream();
  }

  /** Few shards, and more than there are extents and runs for. */
  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (String kind : kinds().keySet()) {
      cases.add(Arguments.of(kind, 3));
    }
    for (Layout layout : List.of(Layout.BLOCKED, Layout.COMPRESSED, Layout.PACKED)) {
      cases.add(Arguments.of(layout.name(), 40));
    }
    cases.add(Arguments.of(Layout.BLOCKED.name(), 2));
    return cases;
  }

  private static boolean approximate(String kind) {
    return kind.equals("approximate");
  }

  /** Records of all shards, and absent keys; some are empty, tagged, or as long as can be. */
  private Truth truth() {
    Truth truth = Truth.random(random, RECORDS, WIDTH);
    truth.add(new byte[0], Truth.utf8("empty"));
    truth.add(new byte[65_535], Truth.utf8("long"));
    for (int i = 0; i < 50; i++) {
      truth.add("{user" + i % 5 + "}/" + i, "tagged " + i);
      truth.add("{}" + i, "an empty tag " + i);
      truth.absent(Truth.utf8("{user" + i % 5 + "}/absent/" + i));
      truth.absent(Truth.bytes(random, 65_536 + random.nextInt(100)));
    }
    return truth;
  }

  private Path build(Truth truth, BuildOptions options) throws IOException {
    Path target = directory.resolve("set");
    truth.build(target, options);
    return target;
  }

  private static Map<ByteBuffer, byte[]> answers(Truth truth) {
    Map<ByteBuffer, byte[]> answers = new HashMap<>();
    truth.records().forEach(each -> answers.put(ByteBuffer.wrap(each.key()), each.value()));
    return answers;
  }

  private static List<byte[]> keys(Truth truth) {
    List<byte[]> keys = new ArrayList<>();
    truth.records().forEach(record -> keys.add(record.key()));
    keys.addAll(truth.absentKeys());
    return keys;
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("cases")
  void everyLookupFindsEveryRecord(String kind, int shards) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(kind).withShards(shards));
    assertThat(Database.verify(target, (done, total) -> {}).records())
        .isEqualTo(truth.records().size());
    for (OpenOptions.Engine engine : Offered.some(random)) {
      truth.checkEveryWay(target, engine);
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        assertThat(database.isShard()).isFalse();
        checkOddBatches(database, truth);
      }
    }
    OpenOptions options = OpenOptions.defaults().withIndexInMemory(true).withVerify(false);
    try (Database database = Database.open(target, options)) {
      truth.checkGets(database);
      truth.checkBatches(database);
    }
    if (!approximate(kind)) {
      try (Database database = Database.open(target)) {
        checkScan(database, truth, shards);
      }
    }
  }

  /** Batches of all sizes by one reused batch; keys come twice, and absent ones between. */
  private void checkOddBatches(Database database, Truth truth) throws IOException {
    Map<ByteBuffer, byte[]> answers = answers(truth);
    List<byte[]> keys = keys(truth);
    LookupBatch batch = database.batch();
    for (int size : BATCHES) {
      List<byte[]> some = new ArrayList<>();
      batch.clear();
      for (int i = 0; i < size; i++) {
        byte[] key = i % 7 == 6 ? some.get(i / 2) : keys.get(random.nextInt(keys.size()));
        some.add(key);
        assertThat(batch.add(key)).isEqualTo(i);
      }
      batch.get();
      List<byte[]> found = database.getAll(some);
      assertThat(found).hasSize(size);
      for (int i = 0; i < size; i++) {
        byte[] expected = answers.get(ByteBuffer.wrap(some.get(i)));
        Truth.same(found.get(i), expected, "value of getAll");
        Truth.same(batch.value(i), expected, "value of a batch");
        assertThat(batch.isPresent(i)).isEqualTo(expected != null);
        assertThat(batch.length(i)).isEqualTo(expected == null ? -1 : expected.length);
        if (expected != null) {
          int from = batch.offset(i);
          byte[] slice = Arrays.copyOfRange(batch.values(), from, from + expected.length);
          Truth.same(slice, expected, "slice of a batch");
        }
      }
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("names")
  void readersMayLookUpKeysOfOtherShards(String kind) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(kind).withShards(40));
    shown = true;
    for (OpenOptions.Engine engine : Offered.some(random)) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        checkNestedReads(database, truth);
      }
    }
  }

  private static void checkNestedReads(Database database, Truth truth) throws IOException {
    List<Truth.Entry> records = truth.records();
    for (int i = 0; i < 40; i++) {
      Truth.Entry outer = records.get(records.size() - 1 - i);
      Truth.Entry inner = records.get(i);
      Truth.Entry innermost = records.get(i + 60);
      Boolean same =
          database.read(
              outer.key(),
              shown -> {
                byte[] nested =
                    database.read(
                        inner.key(),
                        value -> {
                          byte[] last = database.get(innermost.key());
                          Truth.same(last, innermost.value(), "value of a lookup in a reader");
                          return bytes(value);
                        });
                Truth.same(nested, inner.value(), "nested value");
                return Arrays.equals(bytes(shown), outer.value());
              });
      assertThat(same).as("the slice shown stays the same").isTrue();
    }
    for (byte[] absent : truth.absentKeys().subList(0, 20)) {
      assertThat(database.<Boolean>read(absent, value -> true)).isNull();
    }
  }

  private static byte[] bytes(ByteBuffer shown) {
    byte[] bytes = new byte[shown.remaining()];
    shown.get(bytes);
    return bytes;
  }

  /** A scan gives each record once, shard by shard, and of a shard in the order of one database. */
  private static void checkScan(Database database, Truth truth, int shards) throws IOException {
    List<Truth.Entry> inOrder = Truth.inScanOrder(truth.records(), database);
    try (Database.RecordCursor cursor = database.scan()) {
      for (int i = 0; i < shards; i++) {
        for (Truth.Entry record : inOrder) {
          if (KeySlots.shard(record.key(), shards) == i) {
            assertThat(cursor.next()).as("a record follows").isTrue();
            Truth.same(cursor.key(), record.key(), "key");
            Truth.same(cursor.value(), record.value(), "value");
          }
        }
      }
      assertThat(cursor.next()).as("no record follows").isFalse();
      assertThat(cursor.next()).as("still none").isFalse();
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("names")
  void theDocumentedReadersFindEveryRecord(String kind) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(kind).withShards(3));
    boolean approximate = approximate(kind);
    for (boolean direct : new boolean[] {true, false}) {
      try (SyncReader loaded = new SyncReader(target.toFile(), true, approximate, direct, direct);
          SyncReader reader = new SyncReader(target.toFile(), false, approximate, direct, direct);
          AsyncReader async = new AsyncReader(target.toFile(), approximate, direct, direct)) {
        List<CompletableFuture<byte[]>> later = new ArrayList<>();
        List<byte[]> keys = keys(truth).subList(RECORDS - 200, RECORDS + 400);
        Map<ByteBuffer, byte[]> answers = answers(truth);
        for (byte[] key : keys) {
          byte[] expected = answers.get(ByteBuffer.wrap(key));
          Truth.same(loaded.getAsBytes(key), expected, "value");
          Truth.same(reader.getAsBytes(key), expected, "value");
          CompletableFuture<byte[]> answer = new CompletableFuture<>();
          later.add(answer);
          async.asyncGet(key, answer, new Completing());
        }
        for (int i = 0; i < keys.size(); i++) {
          byte[] expected = answers.get(ByteBuffer.wrap(keys.get(i)));
          Truth.same(later.get(i).get(60, TimeUnit.SECONDS), expected, "later value");
        }
      }
    }
  }

  /** Completes the future that is attached. */
  private static final class Completing
      implements CompletionHandler<byte[], CompletableFuture<byte[]>> {
    @Override
    public void completed(byte[] value, CompletableFuture<byte[]> answer) {
      answer.complete(value);
    }

    @Override
    public void failed(Throwable why, CompletableFuture<byte[]> answer) {
      answer.completeExceptionally(why);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aScanOutlivesTheDatabaseAndItsFiles(Layout layout) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(layout.name()).withShards(8));
    Database database = Database.open(target);
    Database.RecordCursor halfRead = database.scan();
    try (halfRead) {
      for (int i = 0; i < truth.records().size() / 2; i++) {
        assertThat(halfRead.next()).isTrue();
      }
    }
    assertThatThrownBy(halfRead::next).isInstanceOf(IllegalStateException.class);
    try (Database.RecordCursor cursor = database.scan()) {
      assertThat(cursor.next()).isTrue();
      database.close();
      deleteAll(target);
      Map<ByteBuffer, byte[]> left = answers(truth);
      do {
        byte[] expected = left.remove(ByteBuffer.wrap(cursor.key()));
        assertThat(expected).as("a record, for the first time").isNotNull();
        Truth.same(cursor.value(), expected, "value");
      } while (cursor.next());
      assertThat(left).isEmpty();
    }
    assertThatThrownBy(database::scan).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> database.get(new byte[1])).isInstanceOf(IllegalStateException.class);
  }

  private static void deleteAll(Path directory) throws IOException {
    List<String> names = Leaks.tree(directory);
    for (int i = names.size() - 1; i >= 0; i--) {
      Files.delete(directory.resolve(names.get(i)));
    }
    Files.delete(directory);
  }

  @ParameterizedTest
  @EnumSource
  void droppedDuplicatesAreNotScanned(Layout layout) throws Exception {
    Truth all = new Truth();
    for (int i = 0; i < 2000; i++) {
      all.add("key " + i % 900, "v" + i);
    }
    for (DuplicatePolicy policy : List.of(DuplicatePolicy.FIRST, DuplicatePolicy.LAST)) {
      Path target = directory.resolve(policy.name());
      all.build(target, kinds().get(layout.name()).withShards(5).withDuplicates(policy));
      boolean first = policy == DuplicatePolicy.FIRST;
      Truth kept = new Truth();
      for (Truth.Entry record : all.records().subList(first ? 0 : 1100, first ? 900 : 2000)) {
        kept.add(record.key(), record.value());
      }
      assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(900);
      try (Database database = Database.open(target)) {
        kept.checkGets(database);
        checkScan(database, kept, 5);
        assertThat(database.statistics().duplicatesDropped()).isEqualTo(1100);
        assertThat(database.statistics().records()).isEqualTo(900);
      }
    }
  }

  @Test
  void anApproximateSetIsNotScanned() throws Exception {
    Path target = build(truth(), kinds().get("approximate").withShards(2));
    assertThat(Database.verify(target, (done, total) -> {}).keysChecked()).isFalse();
    try (Database database = Database.open(target)) {
      assertThatThrownBy(database::scan)
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining(target.toString());
    }
  }

  @ParameterizedTest
  @MethodSource("names")
  void statisticsAreThoseOfAllShards(String kind) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(kind).withShards(3));
    Statistics whole = Database.statistics(target);
    List<Statistics> shards = new ArrayList<>();
    Map<String, Long> files = new LinkedHashMap<>();
    for (Path path : Golden.files(target)) { // the manifest comes first by name, and last here
      if (Files.isDirectory(path)) {
        Statistics shard = Database.statistics(path);
        shards.add(shard);
        shard
            .fileBytes()
            .forEach((name, bytes) -> files.put(path.getFileName() + "/" + name, bytes));
      }
    }
    files.put("manifest.bsdb", Files.size(target.resolve("manifest.bsdb")));
    assertThat(whole.fileBytes()).containsExactlyEntriesOf(files);
    for (Map.Entry<String, Long> file : files.entrySet()) {
      assertThat(target.resolve(file.getKey())).hasSize(file.getValue());
    }
    assertThat(whole.isSet()).isTrue();
    assertThat(whole.shards()).isEqualTo(3);
    assertThat(whole.records()).isEqualTo(truth.records().size());
    assertThat(whole.shardRecords()).isEqualTo(shards.stream().map(Statistics::records).toList());
    assertThat(shards).extracting(Statistics::shard).containsExactly(0, 1, 2);
    assertThat(shards).extracting(Statistics::isSet).containsOnly(false);
    assertThat(whole.layout()).isEqualTo(shards.get(0).layout());
    assertThat(whole.databaseBytes())
        .isEqualTo(files.values().stream().mapToLong(Long::longValue).sum());
    assertThat(whole.keyBytes())
        .isEqualTo(truth.records().stream().mapToLong(each -> each.key().length).sum());
    assertThat(whole.valueBytes())
        .isEqualTo(truth.records().stream().mapToLong(each -> each.value().length).sum());
    assertThat(whole.longestKey()).isEqualTo(65_535);
    assertThat(whole.longestValue()).isEqualTo(longestValue(truth));
    assertThat(whole.dataBytes()).isEqualTo(sum(shards, Statistics::dataBytes));
    assertThat(whole.indexBytes()).isEqualTo(sum(shards, Statistics::indexBytes));
    assertThat(whole.hashBytes()).isEqualTo(sum(shards, Statistics::hashBytes));
    assertThat(whole.filterBytes()).isEqualTo(sum(shards, Statistics::filterBytes));
    assertThat(whole.bins()).isEqualTo(sum(shards, Statistics::bins));
    assertThat((long) whole.dictionaryBytes()).isEqualTo(sum(shards, Statistics::dictionaryBytes));
    try (Database database = Database.open(target)) {
      assertThat(database.statistics().fileBytes()).isEqualTo(whole.fileBytes());
      assertThat(database.statistics().databaseId()).isEqualTo(whole.databaseId());
    }
  }

  private static long longestValue(Truth truth) {
    return truth.records().stream().mapToLong(each -> each.value().length).max().orElse(0);
  }

  private static long sum(
      List<Statistics> shards, java.util.function.ToLongFunction<Statistics> fact) {
    return shards.stream().mapToLong(fact).sum();
  }

  @ParameterizedTest
  @MethodSource("names")
  void memoryIsThatOfAllFiles(String kind) throws Exception {
    Truth truth = truth();
    Path target = build(truth, kinds().get(kind).withShards(3));
    long bytes = 0;
    for (Map.Entry<String, Long> file : Database.statistics(target).fileBytes().entrySet()) {
      bytes += file.getKey().endsWith("manifest.bsdb") ? 0 : file.getValue();
    }
    AtomicLong read = new AtomicLong();
    MemoryUse warmed = Database.warm(target, read::addAndGet);
    assertThat(warmed).isEqualTo(Database.memoryUse(target));
    assertThat(read).hasValue(bytes);
    Path whole = directory.resolve("whole");
    truth.build(whole, kinds().get(kind));
    boolean known = !Database.warm(whole, more -> {}).equals(MemoryUse.NONE);
    assertThat(warmed.bytes()).isEqualTo(known ? bytes : 0);
    OpenOptions mapped = OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED);
    try (Database set = Database.open(target, mapped);
        Database single = Database.open(whole, mapped)) {
      truth.checkGets(set);
      truth.checkGets(single);
      assertThat(set.memoryUse().bytes() > 0).isEqualTo(single.memoryUse().bytes() > 0);
      assertThat(set.memoryUse().bytes()).isLessThanOrEqualTo(bytes);
    }
  }

  /** Reads are counted as in one database; the values are short, so that each takes one read. */
  @Sampled(3)
  @ParameterizedTest
  @MethodSource("names")
  void aLookupMakesAsManyReadsAsInOneDatabase(String kind) throws Exception {
    Truth truth = Truth.random(random, 400, 20);
    Path target = build(truth, kinds().get(kind).withShards(5));
    Path whole = directory.resolve("whole");
    truth.build(whole, kinds().get(kind));
    for (OpenOptions.Engine engine : Offered.some(random)) {
      OpenOptions options = OpenOptions.defaults().withEngine(engine);
      try (Database set = Database.open(target, options);
          Database single = Database.open(whole, options)) {
        List<byte[]> keys = truth.records().stream().map(Truth.Entry::key).toList();
        assertThat(gets(set, keys)).as("gets, %s", engine).isEqualTo(gets(single, keys));
        assertThat(batch(set, keys)).as("batches, %s", engine).isEqualTo(batch(single, keys));
      }
    }
  }

  private static long gets(Database database, List<byte[]> keys) throws IOException {
    long before = database.ioCounters().reads();
    for (byte[] key : keys) {
      assertThat(database.get(key)).isNotNull();
    }
    return database.ioCounters().reads() - before;
  }

  private static long batch(Database database, List<byte[]> keys) throws IOException {
    long before = database.ioCounters().reads();
    assertThat(database.getAll(keys)).doesNotContainNull();
    return database.ioCounters().reads() - before;
  }

  /** Values of many pages, which take other ways: they are read later, decompressed, or copied. */
  @ParameterizedTest
  @EnumSource
  void longValues(Layout layout) throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 40; i++) {
      byte[] value = Truth.bytes(random, i % 4 == 0 ? 200_000 + random.nextInt(200_000) : 3 * i);
      truth.add(Truth.utf8("key " + i), value).absent(Truth.utf8("absent " + i));
    }
    Path target = build(truth, kinds().get(layout.name()).withShards(3));
    Database.verify(target, (done, total) -> {});
    for (OpenOptions.Engine engine : Offered.some(random)) {
      truth.checkEveryWay(target, engine);
    }
    try (Database database = Database.open(target)) {
      checkScan(database, truth, 3);
      shown = true;
      for (Truth.Entry record : truth.records()) {
        Truth.same(
            database.read(record.key(), ShardedDatabaseTest::bytes), record.value(), "value");
      }
    }
  }

  /** Most shards have no records at all. */
  @ParameterizedTest
  @MethodSource("names")
  void emptyShards(String kind) throws Exception {
    Truth truth = new Truth().add("a", "1").add("b", "2");
    for (int i = 0; i < 100; i++) {
      truth.absent(Truth.utf8("absent " + i));
    }
    Path target = build(truth, kinds().get(kind).withShards(8));
    Database.verify(target, (done, total) -> {});
    for (OpenOptions.Engine engine : Offered.some(random)) {
      truth.checkEveryWay(target, engine);
    }
    if (!approximate(kind)) {
      try (Database database = Database.open(target)) {
        checkScan(database, truth, 8);
      }
    }
  }
}
