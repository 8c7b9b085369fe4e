package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
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
  private final SortLimits limits;
  private long records;
  private long keyBytes;
  private KeyRun run = new KeyRun(0, 0);
  private volatile @Nullable KeySpill spill;

  /**
   * Creates an instance without keys.
   *
   * @param memoryBytes the memory limit of the build
   */
  CollectedKeys(BuildPlace place, long memoryBytes, int threads) {
    this.place = place;
    this.limits = new SortLimits(memoryBytes, threads);
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
    return SortLimits.keyNeed(records, keyBytes);
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

  /** Adds keys: the first of all in memory, those after enough for a sample to the file. */
  void addEach(KeyEntries.Source keys) throws IOException {
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
    run.add(bytes, from, to);
    if (run.memory() >= limits.sampleBytes()) {
      KeyRun sample = run;
      spill =
          KeySpill.of(
              OrderStage.spillFile(place),
              keys -> KeyEntries.each(keys).take(sample.bytes(), 0, sample.end()),
              sample.count(),
              sample.end(),
              limits,
              need());
      run = new KeyRun(0, 0);
    }
  }

  /** All keys, divided; null if there are so few that they are in memory. */
  @Nullable KeySpill divided() throws IOException {
    KeySpill divided = spill;
    if (divided != null) {
      divided.finish();
    }
    return divided;
  }

  /** All keys, if they are in memory. */
  synchronized KeyRun inMemory() {
    return run;
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
