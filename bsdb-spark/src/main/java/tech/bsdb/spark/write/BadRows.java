package tech.bsdb.spark.write;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Counts rows that cannot become records, by reason. The counts of each partition travel through
 * the shuffle as a record without a key, so that a task that runs again counts once. Not
 * thread-safe.
 */
final class BadRows implements Serializable {
  private static final long serialVersionUID = 1L;

  private final TreeMap<String, Long> byReason = new TreeMap<>();

  void add(String reason) {
    byReason.merge(reason, 1L, Long::sum);
  }

  void add(BadRows others) {
    others.byReason.forEach((reason, count) -> byReason.merge(reason, count, Long::sum));
  }

  boolean isEmpty() {
    return byReason.isEmpty();
  }

  long count() {
    return byReason.values().stream().mapToLong(Long::longValue).sum();
  }

  Map<String, Long> byReason() {
    return byReason;
  }

  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeInt(byReason.size());
      for (Map.Entry<String, Long> entry : byReason.entrySet()) {
        out.writeUTF(entry.getKey());
        out.writeLong(entry.getValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes every byte", e);
    }
    return bytes.toByteArray();
  }

  static BadRows decode(byte[] bytes) {
    BadRows rows = new BadRows();
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      for (int left = in.readInt(); left > 0; left--) {
        String reason = in.readUTF();
        rows.byReason.merge(reason, in.readLong(), Long::sum);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the counts of bad rows were damaged on their way", e);
    }
    return rows;
  }
}
