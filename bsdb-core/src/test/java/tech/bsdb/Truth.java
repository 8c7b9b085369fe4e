package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** What a database must answer: its records in the order of adding, and absent keys to ask for. */
public final class Truth {
  /** A record. */
  public record Entry(byte[] key, byte[] value) {}

  private final List<Entry> records = new ArrayList<>();
  private final Map<ByteBuffer, byte[]> values = new HashMap<>();
  private final List<byte[]> absent = new ArrayList<>();

  /**
   * Random records with distinct keys of 1 to 30 bytes and values of 0 to {@code longestValue}, and
   * as many absent keys.
   */
  public static Truth random(SplittableRandom random, int count, int longestValue) {
    Truth truth = new Truth();
    while (truth.records.size() < count) {
      byte[] key = bytes(random, 1 + random.nextInt(30));
      if (!truth.values.containsKey(ByteBuffer.wrap(key))) {
        truth.add(key, bytes(random, random.nextInt(longestValue + 1)));
      }
    }
    while (truth.absent.size() < Math.max(count, 20)) {
      truth.absent(bytes(random, 1 + random.nextInt(30)));
    }
    return truth;
  }

  /** Random bytes. */
  public static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** The UTF-8 bytes of a text. */
  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Asserts that the bytes are the expected ones, quickly where they are. */
  public static void same(byte[] found, byte[] expected, String what) {
    if (!Arrays.equals(found, expected)) {
      assertThat(found).as(what).isEqualTo(expected);
    }
  }

  /** Adds a record; of two with one key the last one counts. */
  public Truth add(byte[] key, byte[] value) {
    records.add(new Entry(key, value));
    values.put(ByteBuffer.wrap(key), value);
    return this;
  }

  /** Adds a record of texts. */
  public Truth add(String key, String value) {
    return add(utf8(key), utf8(value));
  }

  /** Adds a key to ask for that has no record. */
  public Truth absent(byte[] key) {
    if (!values.containsKey(ByteBuffer.wrap(key))) {
      absent.add(key);
    }
    return this;
  }

  /** The records, in the order of adding. */
  public List<Entry> records() {
    return records;
  }

  /** The absent keys to ask for. */
  public List<byte[]> absentKeys() {
    return absent;
  }

  /** Returns options without what their layout has no place for, which a build refuses. */
  public static BuildOptions fitting(BuildOptions options) {
    BuildOptions usual = BuildOptions.defaults();
    BuildOptions fitting =
        options.approximateWidth() > 0
            ? options.withLayout(Layout.BLOCKED).withDataFiles(usual.dataFiles())
            : options;
    if (fitting.layout().isPacked()) {
      fitting = fitting.withHash(usual.hash()).withChecksumBits(usual.checksumBits());
    }
    return fitting.layout().isCompressed()
        ? fitting
        : fitting
            .withBlockSize(usual.blockSize())
            .withCompressionLevel(usual.compressionLevel())
            .withDictionaryBytes(usual.dictionaryBytes())
            .withSampleRecords(usual.sampleRecords());
  }

  /** Builds a database of the records. */
  public BuildReport build(Path target, BuildOptions options) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, fitting(options))) {
      for (Entry record : records) {
        builder.add(record.key, record.value);
      }
      return builder.finish();
    }
  }

  /** Checks the answers for all keys, present and absent, one after the other. */
  public void checkGets(Database database) throws IOException {
    checkGets(database, Integer.MAX_VALUE);
  }

  /** Checks the answers for so many of the keys, one after the other. */
  private void checkGets(Database database, int most) throws IOException {
    for (Entry record : records.subList(0, Math.min(most, records.size()))) {
      checkAnswer(record.key, database.get(record.key));
    }
    for (byte[] key : absent.subList(0, Math.min(most, absent.size()))) {
      checkAnswer(key, database.get(key));
    }
  }

  private void checkAnswer(byte[] key, byte[] found) {
    byte[] expected = values.get(ByteBuffer.wrap(key));
    if (!Arrays.equals(found, expected)) {
      same(found, expected, "value of " + DuplicateKeyException.show(key));
    }
  }

  /** Checks the answers for all keys in batches, and for some that are asked for at once. */
  public void checkBatches(Database database) throws IOException {
    List<byte[]> keys = new ArrayList<>();
    records.forEach(record -> keys.add(record.key));
    keys.addAll(absent);
    LookupBatch batch = database.batch();
    for (int from = 0; from < keys.size(); from += 1000) {
      List<byte[]> part = keys.subList(from, Math.min(from + 1000, keys.size()));
      List<byte[]> found = database.getAll(part);
      assertThat(found).hasSameSizeAs(part);
      batch.clear();
      part.forEach(batch::add);
      batch.get();
      for (int i = 0; i < part.size(); i++) {
        checkAnswer(part.get(i), found.get(i));
        checkAnswer(part.get(i), batch.value(i));
      }
    }
    List<CompletableFuture<byte[]>> later = new ArrayList<>();
    List<byte[]> some = keys.subList(Math.max(0, keys.size() - 500), keys.size());
    some.forEach(key -> later.add(database.getAsync(key)));
    for (int i = 0; i < some.size(); i++) {
      checkAnswer(some.get(i), answer(later.get(i)));
    }
  }

  private static byte[] answer(CompletableFuture<byte[]> future) throws IOException {
    try {
      return future.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException cause) {
        throw cause;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /** Checks the answers for all keys by one engine: single, in batches, and asked for at once. */
  public void checkEveryWay(Path target, OpenOptions.Engine engine) throws IOException {
    try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
      checkGets(database, Offered.readsDevice(engine) ? 200 : Integer.MAX_VALUE);
      checkBatches(database);
    }
  }

  /**
   * Records in the order of a scan: that of their signatures if packed, that of their keys if it
   * was stored, else as they were added.
   */
  public static List<Entry> inScanOrder(List<Entry> records, Database database) {
    if (!database.statistics().layout().startsWith("packed")) {
      Comparator<Entry> byKey = (one, other) -> Arrays.compareUnsigned(one.key, other.key);
      return database.isOrdered() ? records.stream().sorted(byKey).toList() : records;
    }
    record Signed(long high, long low, Entry entry) {}
    Statistics statistics = database.statistics();
    SignatureFunction function =
        SignatureFunction.of(
            SignatureAlgorithm.valueOf(statistics.signature().toUpperCase(Locale.ROOT)),
            statistics.seed());
    Signature signature = new Signature();
    List<Signed> signed = new ArrayList<>();
    for (Entry record : records) {
      function.sign(record.key(), 0, record.key().length, signature);
      signed.add(new Signed(signature.high, signature.low, record));
    }
    signed.sort(
        Comparator.<Signed>comparingLong(each -> each.high ^ Long.MIN_VALUE)
            .thenComparingLong(each -> each.low ^ Long.MIN_VALUE));
    return signed.stream().map(Signed::entry).toList();
  }

  /**
   * Checks the answers about the order of keys, for all keys and around each. Of a database without
   * an order nothing is asked.
   */
  public void checkOrder(Database database) throws IOException {
    if (!database.isOrdered()) {
      return;
    }
    TreeMap<byte[], byte[]> sorted = new TreeMap<>(Arrays::compareUnsigned);
    records.forEach(record -> sorted.put(record.key, record.value));
    same(database.firstKey(), sorted.isEmpty() ? null : sorted.firstKey(), "first key");
    same(database.lastKey(), sorted.isEmpty() ? null : sorted.lastKey(), "last key");
    RangeOptions options = RangeOptions.defaults();
    checkRange(database, KeyRange.all(), options, sorted);
    checkRange(database, KeyRange.all(), options.withDescending(true), sorted.descendingMap());
    checkRange(database, KeyRange.all(), options.withValues(false), sorted);
    List<byte[]> asked = new ArrayList<>(absent.subList(0, Math.min(20, absent.size())));
    asked.addAll(sorted.keySet().stream().limit(20).toList());
    for (byte[] key : asked) {
      same(database.floorKey(key), sorted.floorKey(key), "floor");
      same(database.ceilingKey(key), sorted.ceilingKey(key), "ceiling");
      KeyRange from = KeyRange.all().from(key);
      KeyRange to = KeyRange.all().to(key);
      assertThat(database.count(from)).isEqualTo(sorted.tailMap(key, true).size());
      assertThat(database.count(to)).isEqualTo(sorted.headMap(key, false).size());
    }
  }

  private static void checkRange(
      Database database, KeyRange range, RangeOptions options, Map<byte[], byte[]> expected)
      throws IOException {
    assertThat(database.count(range)).as("count").isEqualTo(expected.size());
    try (Database.RecordCursor cursor = database.range(range, options)) {
      for (Map.Entry<byte[], byte[]> record : expected.entrySet()) {
        assertThat(cursor.next()).as("a record follows in order").isTrue();
        same(cursor.key(), record.getKey(), "key in order");
        if (options.values()) {
          same(cursor.value(), record.getValue(), "value in order");
        }
      }
      assertThat(cursor.next()).as("no record follows in order").isFalse();
    }
  }

  /** Checks that a scan gives all records in their order. */
  public void checkScan(Database database) throws IOException {
    try (Database.RecordCursor cursor = database.scan()) {
      for (Entry record : inScanOrder(records, database)) {
        assertThat(cursor.next()).as("a record follows").isTrue();
        same(cursor.key(), record.key, "key");
        same(cursor.value(), record.value, "value");
      }
      assertThat(cursor.next()).as("no record follows").isFalse();
    }
  }

  /**
   * Checks all of a database whose records have distinct keys, by every engine; in the short form
   * by two, which its id says.
   */
  public void check(Path target) throws IOException {
    int id = Database.statistics(target).databaseId().hashCode();
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(records.size());
    for (OpenOptions.Engine engine : Offered.some(new SplittableRandom(id))) {
      checkEveryWay(target, engine);
    }
    try (Database database = Database.open(target)) {
      checkScan(database);
      checkOrder(database);
    }
    OpenOptions trusting = OpenOptions.defaults().withVerify(false);
    try (Database database =
        Database.open(target, trusting.withEngine(OpenOptions.Engine.MAPPED))) {
      checkGets(database);
    }
  }
}
