package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** Keys divided into partitions in a file, against a sort of a list. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeySpillTest {
  private static final SortLimits LIMITS = new SortLimits(1 << 20, 2);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KeySpillTest");

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(Leaks.tree(directory)).isEmpty();
    Leaks.assertNone(directory);
  }

  @Test
  void aKeyIsInThePartitionOfTheSplittersThatAreNotGreater() {
    for (int round = 0; round < 2000; round++) {
      RandomKeys source = new RandomKeys(random, random.nextBoolean() ? 12 : 300);
      List<byte[]> sample = keys(source, random.nextInt(60));
      KeySplitters splitters = new KeySplitters(sample, 1 + random.nextInt(40));
      List<byte[]> all = new ArrayList<>(keys(source, 100));
      all.addAll(sample);
      for (byte[] key : sample) {
        all.add(Arrays.copyOf(key, key.length + 1));
        all.add(Arrays.copyOf(key, key.length / 2));
      }
      all.sort(Arrays::compareUnsigned);
      int last = 0;
      byte[] previous = null;
      for (byte[] key : all) {
        int partition = splitters.partition(key, 0, key.length);
        assertThat(partition).isBetween(last, splitters.partitions() - 1);
        byte[] around = Truth.bytes(random, key.length + random.nextInt(2, 20));
        System.arraycopy(key, 0, around, 1, key.length);
        assertThat(splitters.partition(around, 1, 1 + key.length)).isEqualTo(partition);
        if (previous != null && Arrays.equals(previous, key)) {
          assertThat(partition).isEqualTo(last);
        }
        last = partition;
        previous = key;
      }
    }
  }

  @Test
  void splittersOfASampleMakePartitionsOfTheSameSize() {
    for (String prefix : new String[] {"", "k", "user:000000000000:"}) {
      List<byte[]> sample = new ArrayList<>();
      for (int i = 0; i < 4000; i++) {
        sample.add(
            (prefix + random.nextInt(1_000_000)).getBytes(java.nio.charset.StandardCharsets.UTF_8));
      }
      KeySplitters splitters = new KeySplitters(sample, 37);
      assertThat(splitters.partitions()).isEqualTo(37);
      int[] counts = new int[37];
      for (byte[] key : sample) {
        counts[splitters.partition(key, 0, key.length)]++;
      }
      assertThat(Arrays.stream(counts).min().orElseThrow()).isGreaterThan(4000 / 37 - 10);
      assertThat(Arrays.stream(counts).max().orElseThrow()).isLessThan(4000 / 37 + 10);
    }
  }

  private static List<byte[]> keys(RandomKeys source, int count) {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      keys.add(source.next());
    }
    return keys;
  }

  /** Several writers, and chunks smaller than some keys. */
  @Test
  void allKeysComeBackInOrderOfThePartitions() throws Exception {
    for (int round = 0; round < 40; round++) {
      RandomKeys source = new RandomKeys(random, round % 4 == 0 ? RandomKeys.LONGEST : 40);
      List<byte[]> keys = keys(source, round % 4 == 0 ? 100 : random.nextInt(20_000));
      KeySplitters splitters =
          new KeySplitters(keys.subList(0, Math.min(keys.size(), 200)), 1 + random.nextInt(30));
      List<byte[]> found = new ArrayList<>();
      try (KeySpill spill =
          new KeySpill(directory.resolve("order.part"), LIMITS, splitters, 1 << 12)) {
        List<KeySpill.KeyWriter> writers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
          writers.add(spill.writer());
        }
        for (byte[] key : keys) {
          writers.get(random.nextInt(3)).add(key);
        }
        writers.forEach(KeySpill.KeyWriter::close);
        spill.finish();
        Spill divided = spill.spill();
        for (int i = 0; i < divided.partitions(); i++) {
          found.addAll(partition(divided, i));
        }
      }
      keys.sort(Arrays::compareUnsigned);
      assertThat(found).hasSameSizeAs(keys);
      for (int i = 0; i < found.size(); i++) {
        Truth.same(found.get(i), keys.get(i), "key " + i);
      }
    }
  }

  @Test
  void writersOfSeveralThreadsKeepOutOfEachOthersPlaces() throws Exception {
    KeySplitters splitters = new KeySplitters(keys(new RandomKeys(random, 12), 100), 8);
    List<byte[]> keys = keys(new RandomKeys(random, 12), 200_000);
    int threads = 4;
    List<byte[]> found = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (KeySpill spill = new KeySpill(directory.resolve("order.part"), LIMITS, splitters, 1)) {
      CyclicBarrier start = new CyclicBarrier(threads);
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        int first = i;
        running.add(
            pool.submit(
                () -> {
                  try (KeySpill.KeyWriter writer = spill.writer()) {
                    start.await();
                    for (int j = first; j < keys.size(); j += threads) {
                      writer.add(keys.get(j));
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
      spill.finish();
      Spill divided = spill.spill();
      for (int i = 0; i < divided.partitions(); i++) {
        found.addAll(partition(divided, i));
      }
    } finally {
      pool.shutdownNow();
    }
    keys.sort(Arrays::compareUnsigned);
    assertThat(found).hasSameSizeAs(keys);
    for (int i = 0; i < found.size(); i++) {
      Truth.same(found.get(i), keys.get(i), "key " + i);
    }
  }

  /** The keys of a partition, in their order. */
  private static List<byte[]> partition(Spill spill, int partition) throws IOException {
    List<byte[]> found = new ArrayList<>();
    KeyRun run = new KeyRun(0, 0);
    spill.read(partition, run::addEntries);
    run.sort();
    for (int i = 0; i < run.count(); i++) {
      found.add(Arrays.copyOfRange(run.bytes(), run.start(i), run.end(i)));
    }
    assertThat((long) found.size()).isEqualTo(spill.count(partition));
    assertThat((long) run.end()).isEqualTo(spill.bytes(partition));
    return found;
  }

  @Test
  void aFileCutShortIsReported() throws Exception {
    KeySplitters none = new KeySplitters(List.of(), 10);
    assertThat(none.partitions()).isEqualTo(1);
    try (KeySpill spill = new KeySpill(directory.resolve("order.part"), LIMITS, none, 1 << 12)) {
      try (KeySpill.KeyWriter writer = spill.writer()) {
        writer.add(Truth.bytes(random, 100));
      }
      spill.finish();
      Spill divided = spill.spill();
      try (FileChannel channel =
          FileChannel.open(directory.resolve("order.part"), StandardOpenOption.WRITE)) {
        channel.truncate(101);
      }
      assertThatThrownBy(() -> divided.read(0, new KeyRun(0, 0)::addEntries))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("order.part");
    }
  }
}
