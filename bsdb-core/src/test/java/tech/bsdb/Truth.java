package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

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

  /** Builds a database of the records. */
  public BuildReport build(Path target, BuildOptions options) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (Entry record : records) {
        builder.add(record.key, record.value);
      }
      return builder.finish();
    }
  }

  /** Checks the answers for all keys, present and absent. */
  public void checkGets(Database database) throws IOException {
    for (Entry record : records) {
      byte[] expected = values.get(ByteBuffer.wrap(record.key));
      byte[] found = database.get(record.key);
      if (!Arrays.equals(found, expected)) {
        same(found, expected, "value of " + DuplicateKeyException.show(record.key));
      }
    }
    for (byte[] key : absent) {
      byte[] found = database.get(key);
      if (found != null && !values.containsKey(ByteBuffer.wrap(key))) {
        assertThat(found).as("value of absent %s", DuplicateKeyException.show(key)).isNull();
      }
    }
  }

  /** Checks that a scan gives all records in their order. */
  public void checkScan(Database database) throws IOException {
    try (Database.RecordCursor cursor = database.scan()) {
      for (Entry record : records) {
        assertThat(cursor.next()).as("a record follows").isTrue();
        same(cursor.key(), record.key, "key");
        same(cursor.value(), record.value, "value");
      }
      assertThat(cursor.next()).as("no record follows").isFalse();
    }
  }

  /** Checks all of a database whose records have distinct keys, by every engine. */
  public void check(Path target) throws IOException {
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(records.size());
    for (OpenOptions.Engine engine : OpenOptions.Engine.values()) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        checkGets(database);
        if (engine == OpenOptions.Engine.AUTO) {
          checkScan(database);
        }
      }
    }
    OpenOptions trusting = OpenOptions.defaults().withVerify(false);
    try (Database database =
        Database.open(target, trusting.withEngine(OpenOptions.Engine.MAPPED))) {
      checkGets(database);
    }
  }
}
