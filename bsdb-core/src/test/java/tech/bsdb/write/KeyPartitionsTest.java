package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.hash.SignatureFunction;

class KeyPartitionsTest {
  private static final int MOST = 64;
  private static final int LEAST_BYTES = 1 << 12;

  @TempDir Path directory;

  private static byte[] key(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  private static KeySplitters splitters(String... sample) {
    return new KeySplitters(
        Arrays.stream(sample).map(KeyPartitionsTest::key).toList(), sample.length);
  }

  /** Adds keys; returns those of each partition. */
  private static Map<Integer, List<String>> add(
      KeyPartitions partitions, RecordSpill spill, List<String> keys) throws Exception {
    Map<Integer, List<String>> added = new TreeMap<>();
    for (String key : keys) {
      FramedRecord record =
          Framed.of(key(key), new byte[20], SignatureFunction.of(SignatureAlgorithm.SPOOKY, 0));
      int partition = partitions.of(record);
      spill.add(partition, record);
      added.computeIfAbsent(partition, number -> new ArrayList<>()).add(key);
    }
    return added;
  }

  private static void requireOrder(Map<Integer, List<String>> added) {
    String last = "";
    for (List<String> keys : added.values()) {
      List<String> sorted = keys.stream().sorted().toList();
      assertThat(sorted.get(0)).isGreaterThanOrEqualTo(last);
      last = sorted.get(sorted.size() - 1);
    }
  }

  @Test
  void ascendingKeysFillPartitionsBehindTheSample() throws Exception {
    try (RecordSpill spill = new RecordSpill(directory, "test", MOST, 1 << 10)) {
      KeyPartitions partitions =
          new KeyPartitions(splitters("a1", "a2", "a3", "a4"), spill, MOST, LEAST_BYTES, 256);
      int sampled = partitions.count();
      List<String> keys = new ArrayList<>();
      for (int i = 10_000; i < 15_000; i++) {
        keys.add("b" + i);
      }
      Map<Integer, List<String>> added = add(partitions, spill, keys);
      requireOrder(added);
      assertThat(partitions.count()).isBetween(sampled + 10, MOST);
      for (int i = sampled - 1; i < partitions.count(); i++) {
        assertThat(partitions.isInOrder(i)).as("partition %s", i).isTrue();
        assertThat(spill.bytes(i)).isLessThan(2 * LEAST_BYTES);
      }
      assertThat(partitions.isInOrder(0)).isFalse();

      Map<Integer, List<String>> more = add(partitions, spill, List.of("b12000", "a", "c"));
      assertThat(more.keySet())
          .containsExactly(0, placeOf(added, "b12000"), partitions.count() - 1);
      assertThat(partitions.isInOrder(placeOf(added, "b12000"))).isFalse();
      assertThat(partitions.isInOrder(partitions.count() - 1)).isTrue();
      add(partitions, spill, List.of("bz"));
      assertThat(partitions.isInOrder(partitions.count() - 1)).isFalse();
    }
  }

  private static int placeOf(Map<Integer, List<String>> added, String key) {
    return added.entrySet().stream()
        .filter(partition -> partition.getValue().contains(key))
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  @Test
  void thereAreNoMorePartitionsThanWanted() throws Exception {
    try (RecordSpill spill = new RecordSpill(directory, "test", 5, 1 << 10)) {
      KeyPartitions partitions = new KeyPartitions(splitters(), spill, 5, 100, 256);
      List<String> keys = new ArrayList<>();
      for (int i = 10_000; i < 11_000; i++) {
        keys.add("" + i);
      }
      requireOrder(add(partitions, spill, keys));
      assertThat(partitions.count()).isEqualTo(5);
    }
  }

  private static int partition(KeySplitters splitters, String key) {
    return splitters.partition(key(key), 0, key.length());
  }

  @Test
  void aFrequentKeyHasItsOwnPartition() throws Exception {
    KeySplitters splitters = splitters("a", "m", "m", "m", "m", "z");
    int own = partition(splitters, "m");
    assertThat(splitters.isOfOneKey(own)).isTrue();
    assertThat(partition(splitters, "l~")).isLessThan(own);
    assertThat(partition(splitters, "m\0")).isGreaterThan(own);
    assertThat(splitters.isOfOneKey(partition(splitters, "m\0"))).isFalse();
    assertThat(splitters.isOfOneKey(0)).isFalse();
    assertThat(splitters("m", "m").isOfOneKey(1)).isFalse();
  }
}
