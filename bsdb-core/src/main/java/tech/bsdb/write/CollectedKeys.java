package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.write.PackStage.KeyReceiver;

/**
 * The keys of a packed database, collected while its records are packed: few in memory, many
 * divided into the partitions of a temporary file. Signatures are random, so the keys of the first
 * passes are a sample of all. Any number of threads add keys; when they have ended, one takes them.
 */
final class CollectedKeys implements KeyReceiver, Closeable {
  private final BuildPlace place;
  private final RecordTotals totals;
  private final OrderLimits limits;
  private @Nullable KeyRun run;
  private volatile @Nullable KeySpill spill;

  /**
   * Creates an instance without keys.
   *
   * @param totals the records of the database, all of which are counted when the first key is added
   * @param memoryBytes the memory limit of the build
   */
  CollectedKeys(BuildPlace place, RecordTotals totals, long memoryBytes, int threads) {
    this.place = place;
    this.totals = totals;
    this.limits = new OrderLimits(memoryBytes, threads);
  }

  /** The memory that remains for packing, when all records are counted. */
  long packBytes() {
    return limits.packBytes(need());
  }

  private long need() {
    return OrderLimits.need(totals.records(), totals.keyBytes());
  }

  @Override
  public void add(SortedBins pass) throws IOException {
    int collected = spill == null ? collect(pass) : 0;
    KeySpill divided = spill;
    if (divided == null || collected == pass.records()) {
      return;
    }
    byte[] bytes = pass.bytes();
    try (KeySpill.KeyWriter writer = divided.writer()) {
      for (int i = collected; i < pass.records(); i++) {
        writer.add(bytes, pass.keyStart(i), pass.keyEnd(i));
      }
    }
  }

  /**
   * Collects keys of a pass in memory, until there are enough for a sample; returns how many. The
   * others belong in the file.
   */
  private synchronized int collect(SortedBins pass) throws IOException {
    if (spill != null) {
      return 0;
    }
    KeyRun keys = run;
    boolean divides = limits.divides(need());
    if (keys == null) {
      keys = divides ? new KeyRun(0, 0) : wholeRun();
      run = keys;
    }
    long enough = divides ? limits.sampleBytes() : Long.MAX_VALUE;
    byte[] bytes = pass.bytes();
    int count = 0;
    while (count < pass.records() && keys.memory() < enough) {
      keys.add(bytes, pass.keyStart(count), pass.keyEnd(count));
      count++;
    }
    if (keys.memory() >= enough) {
      run = null;
      divide(keys);
    }
    return count;
  }

  /** A run with room for all keys. */
  private KeyRun wholeRun() {
    long records = totals.records();
    return new KeyRun((int) records, totals.keyBytes() + KeyEntries.HEAD * records);
  }

  /** Creates the file, and adds the keys of the sample. */
  private void divide(KeyRun sample) throws IOException {
    int partitions = limits.partitions(need());
    int step = Math.max(1, sample.count() / OrderStage.SAMPLE_OF_PARTITION / partitions);
    List<byte[]> some = new ArrayList<>();
    int[] number = {0};
    KeyEntries.each(
            (bytes, from, to) -> {
              if (number[0]++ % step == 0) {
                some.add(Arrays.copyOfRange(bytes, from, to));
              }
            })
        .take(sample.bytes(), 0, sample.end());
    KeySplitters splitters = new KeySplitters(some, partitions);
    int chunkBytes = limits.chunkBytes(need(), splitters.partitions());
    KeySpill created = new KeySpill(OrderStage.spillFile(place), splitters, chunkBytes);
    spill = created;
    try (KeySpill.KeyWriter writer = created.writer()) {
      KeyEntries.each(writer::add).take(sample.bytes(), 0, sample.end());
    }
  }

  /** All keys, divided; null if there are so few that they are in memory. */
  @Nullable Spill divided() throws IOException {
    KeySpill divided = spill;
    return divided == null ? null : divided.finish();
  }

  /** All keys, if they are in memory. */
  synchronized KeyRun inMemory() {
    KeyRun keys = run;
    return keys == null ? new KeyRun(0, 0) : keys;
  }

  /** Closes and deletes the file. */
  @Override
  public void close() throws IOException {
    KeySpill opened = spill;
    if (opened != null) {
      opened.close();
    }
  }
}
