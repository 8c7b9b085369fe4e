package tech.bsdb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Records whose keys are hard to keep in order, and ranges to ask for. */
final class OrderedTruth {
  private OrderedTruth() {}

  /**
   * Records with the empty key, bytes at both ends of the alphabet, keys that others start with,
   * and keys of 60,000 bytes: some share all of them but the last few, others half.
   */
  static Truth random(SplittableRandom random) {
    Truth truth = Truth.random(random, 700, 40);
    truth.add("", "the empty key");
    for (int length = 31; length < 50; length++) {
      truth.add(new byte[length], Truth.bytes(random, 3)).add(ones(length), new byte[0]);
    }
    String common = "common/".repeat(40);
    for (int i = 0; i < 300; i++) {
      truth.add(common.substring(0, 15 + i % 5 * 60) + i, "value " + i);
    }
    byte[] prefix = Truth.bytes(random, 30_000);
    byte[] longPrefix = Arrays.copyOf(prefix, 59_998);
    for (int i = 0; i < 12; i++) {
      truth.add(concat(prefix, Truth.bytes(random, 30_000)), Truth.bytes(random, 30));
      truth.add(concat(longPrefix, new byte[] {(byte) (i * 23), (byte) 0xFF}), new byte[i * 500]);
    }
    truth.absent(prefix).absent(longPrefix).absent(ones(100)).absent(ones(1));
    return truth;
  }

  private static byte[] ones(int length) {
    byte[] ones = new byte[length];
    Arrays.fill(ones, (byte) 0xFF);
    return ones;
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  /** Ranges whose bounds are keys of a truth, absent keys, or missing. */
  static List<KeyRange> ranges(SplittableRandom random, Truth truth) {
    List<byte[]> bounds = new ArrayList<>(truth.absentKeys());
    truth.records().forEach(record -> bounds.add(record.key()));
    byte[] one = bounds.get(random.nextInt(bounds.size()));
    byte[] other = truth.absentKeys().get(random.nextInt(truth.absentKeys().size()));
    boolean less = Arrays.compareUnsigned(one, other) < 0;
    return List.of(
        KeyRange.all(),
        KeyRange.all().from(one),
        KeyRange.all().to(one),
        KeyRange.all().from(less ? one : other).to(less ? other : one),
        KeyRange.all().from(less ? other : one).to(less ? one : other),
        KeyRange.all().from(one).through(one),
        KeyRange.prefix(ones(2)),
        KeyRange.prefix(Truth.utf8("common/common/")));
  }

  /** The records that this reader finds in a range. */
  static List<Truth.Entry> read(Database database, KeyRange range, boolean descending)
      throws IOException {
    List<Truth.Entry> records = new ArrayList<>();
    RangeOptions options = RangeOptions.defaults().withDescending(descending);
    try (Database.RecordCursor cursor = database.range(range, options)) {
      while (cursor.next()) {
        records.add(new Truth.Entry(cursor.key(), cursor.value()));
      }
    }
    return records;
  }
}
