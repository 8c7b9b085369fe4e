package tech.bsdb.spark.write;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
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

  private static final ObjectMapper JSON = new ObjectMapper();

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
    try {
      return JSON.writeValueAsBytes(byReason);
    } catch (IOException e) {
      throw new UncheckedIOException("memory takes every byte", e);
    }
  }

  static BadRows decode(byte[] bytes) {
    BadRows rows = new BadRows();
    try {
      rows.byReason.putAll(JSON.readValue(bytes, new TypeReference<Map<String, Long>>() {}));
    } catch (IOException e) {
      throw new UncheckedIOException("the counts of bad rows were damaged on their way", e);
    }
    return rows;
  }
}
