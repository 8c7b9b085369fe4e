package tech.bsdb.bench.compare;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * The data that all stores share: records in a text file, present keys in random order to look up,
 * and absent keys. Generated from fixed seeds and kept in a directory, so that every process reads
 * the same data.
 *
 * @param name its name in the report
 * @param directory holds {@code present.keys} and {@code absent.keys}
 * @param records the records
 */
record DataSet(String name, Path directory, Records records) {
  /** The number of keys to look up; they and what they touch exceed the processor's caches. */
  private static final int QUERIES = 1 << 21;

  /** The length of a number's key. */
  static final int KEY = 13;

  private static final int NUMBERED_RECORDS = 10_000_000;
  private static final long SEED = 20_250_101;
  private static final byte[] DIGITS =
      "0123456789abcdefghijklmnopqrstuv".getBytes(StandardCharsets.US_ASCII);

  /** Returns the data set {@code 10m}: ten million records with 13-byte keys and 32-byte values. */
  static DataSet numbered(Path directory) throws IOException {
    DataSet set = new DataSet("10m", directory, numbered(directory, NUMBERED_RECORDS));
    if (!Files.exists(set.keys(false))) {
      byte[][] present = new byte[QUERIES][];
      byte[][] absent = new byte[QUERIES][];
      int[] order = shuffled(NUMBERED_RECORDS);
      for (int i = 0; i < QUERIES; i++) {
        present[i] = key(order[i]);
        absent[i] = key(NUMBERED_RECORDS + order[i]);
      }
      set.writeKeys(present, absent);
    }
    return set;
  }

  /** Returns the first records of {@code 10m}, from a text file that is kept in a directory. */
  static Records numbered(Path directory, int count) throws IOException {
    Path file = directory.resolve("records.txt");
    if (!Files.exists(file)) {
      Files.createDirectories(directory);
      Path part = directory.resolve("records.txt.part");
      try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(part), 1 << 20)) {
        for (int i = 0; i < count; i++) {
          out.write(key(i));
          out.write('\t');
          out.write(value(i));
          out.write('\n');
        }
      }
      Files.move(part, file);
    }
    return new Records(file, count);
  }

  /** Returns a number's key: its mixed bits, 5 per digit. Different numbers have different keys. */
  static byte[] key(int number) {
    byte[] key = new byte[KEY];
    writeKey(number, key);
    return key;
  }

  /** Writes a number's key to an array of its length. */
  static void writeKey(int number, byte[] key) {
    long random = mix(SEED + number);
    for (int i = 0; i < KEY; i++) {
      key[i] = DIGITS[(int) (random >>> 5 * i) & 31];
    }
  }

  /** Returns a number's value: 32 hexadecimal digits. */
  static byte[] value(int number) {
    byte[] value = new byte[32];
    for (int half = 0; half < 2; half++) {
      long random = mix(mix(SEED + 1 + half) + number);
      for (int i = 0; i < 16; i++) {
        value[16 * half + i] = DIGITS[(int) (random >>> 60 - 4 * i) & 15];
      }
    }
    return value;
  }

  /** The finalizer of SplitMix64, a bijection. */
  private static long mix(long value) {
    long z = value * 0x9e3779b97f4a7c15L;
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /** Returns random numbers below {@code bound}, from a fixed seed. */
  static int[] drawn(int count, int bound) {
    return new Random(SEED).ints(count, 0, bound).toArray();
  }

  /** Returns the numbers below {@code count} in a fixed random order. */
  static int[] shuffled(int count) {
    int[] order = new int[count];
    Arrays.setAll(order, i -> i);
    Random random = new Random(SEED);
    for (int i = count - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int kept = order[i];
      order[i] = order[other];
      order[other] = kept;
    }
    return order;
  }

  /** Returns the data set of a text file; absent keys are present ones with one letter changed. */
  static DataSet of(Path file, Path directory) throws IOException {
    Files.createDirectories(directory);
    Records records = Records.of(file);
    DataSet set = new DataSet(file.getFileName().toString(), directory, records);
    byte[][] keys = new byte[records.count()][];
    Set<ByteBuffer> known = new HashSet<>(2 * keys.length);
    int at = 0;
    for (Records.KeyValue record : records) {
      keys[at++] = record.key();
      known.add(ByteBuffer.wrap(record.key()));
    }
    int[] order = shuffled(keys.length);
    byte[][] present = new byte[Math.min(QUERIES, keys.length)][];
    byte[][] absent = new byte[present.length][];
    Random random = new Random(SEED);
    for (int i = 0; i < present.length; i++) {
      present[i] = keys[order[i]];
      absent[i] = present[i];
      for (int more = 0; known.contains(ByteBuffer.wrap(absent[i])); more++) {
        // Lengthen it after a while: every one-letter word may be present.
        absent[i] = Arrays.copyOf(present[i], present[i].length + more / 4);
        Arrays.fill(absent[i], present[i].length, absent[i].length, (byte) 'a');
        absent[i][random.nextInt(absent[i].length)] = (byte) ('a' + random.nextInt(26));
      }
    }
    set.writeKeys(present, absent);
    return set;
  }

  private Path keys(boolean present) {
    return directory.resolve(present ? "present.keys" : "absent.keys");
  }

  private void writeKeys(byte[][] present, byte[][] absent) throws IOException {
    write(keys(true), present);
    write(keys(false), absent);
  }

  private static void write(Path file, byte[][] keys) throws IOException {
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 20))) {
      out.writeInt(keys.length);
      for (byte[] key : keys) {
        out.writeShort(key.length);
        out.write(key);
      }
    }
  }

  /** Returns the keys to look up, in order. */
  byte[][] queries(boolean present) throws IOException {
    try (DataInputStream in =
        new DataInputStream(
            new BufferedInputStream(Files.newInputStream(keys(present)), 1 << 20))) {
      byte[][] keys = new byte[in.readInt()][];
      for (int i = 0; i < keys.length; i++) {
        keys[i] = new byte[in.readUnsignedShort()];
        in.readFully(keys[i]);
      }
      return keys;
    }
  }
}
