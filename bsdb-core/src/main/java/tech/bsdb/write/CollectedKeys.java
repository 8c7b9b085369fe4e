package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.write.PackStage.KeyReceiver;

/**
 * The keys of a packed database, collected while its records are packed or merged: few in memory,
 * many divided into the partitions of a temporary file. Signatures are random, so the keys of the
 * first passes are a sample of all. Any number of threads add keys; when they have ended, one takes
 * them.
 */
final class CollectedKeys implements KeyReceiver, Closeable {
  private final BuildPlace place;
  private final OrderLimits limits;
  private long records;
  private long keyBytes;
  private @Nullable KeyRun run;
  private volatile @Nullable KeySpill spill;

  /**
   * Creates an instance without keys.
   *
   * @param memoryBytes the memory limit of the build
   */
  CollectedKeys(BuildPlace place, long memoryBytes, int threads) {
    this.place = place;
    this.limits = new OrderLimits(memoryBytes, threads);
  }

  /**
   * Says how many keys to expect, before the first one is added.
   *
   * @param keys how many there are at most
   * @param bytes their bytes at most
   */
  void expect(long keys, long bytes) {
    records = keys;
    keyBytes = bytes;
  }

  /** The memory that remains for packing, of what is expected. */
  long packBytes() {
    return limits.packBytes(need());
  }

  private long need() {
    return OrderLimits.need(records, keyBytes);
  }

  @Override
  public void add(SortedBins pass) throws IOException {
    addEach(
        keys -> {
          byte[] bytes = pass.bytes();
          for (int i = 0; i < pass.records(); i++) {
            keys.take(bytes, pass.keyStart(i), pass.keyEnd(i));
          }
        });
  }

  /** Keys that a thread adds. */
  @FunctionalInterface
  interface Keys {
    /** Passes each on. */
    void each(KeyEntries.Keys to) throws IOException;
  }

  /** Adds keys: the first of all in memory, those after enough for a sample to the file. */
  void addEach(Keys keys) throws IOException {
    if (spill == null) {
      synchronized (this) {
        if (spill == null) {
          keys.each(this::addFirst);
          return;
        }
      }
    }
    KeySpill divided = Objects.requireNonNull(spill);
    try (KeySpill.KeyWriter writer = divided.writer()) {
      keys.each(writer::add);
    }
  }

  private void addFirst(byte[] bytes, int from, int to) throws IOException {
    KeySpill divided = spill;
    if (divided != null) {
      try (KeySpill.KeyWriter writer = divided.writer()) {
        writer.add(bytes, from, to);
      }
      return;
    }
    boolean divides = limits.divides(need());
    KeyRun first = run;
    if (first == null) {
      first =
          divides
              ? new KeyRun(0, 0)
              : new KeyRun((int) records, keyBytes + KeyEntries.HEAD * records);
      run = first;
    }
    first.add(bytes, from, to);
    if (divides && first.memory() >= limits.sampleBytes()) {
      run = null;
      divide(first);
    }
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
