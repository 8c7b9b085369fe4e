package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;
import tech.bsdb.order.OrderWriter;
import tech.bsdb.write.Assembled.Content;

/**
 * Writes the order of the keys of a packed database whose other files are finished. No key occurs
 * twice, since packing dropped duplicates. The keys are either known in order or were {@linkplain
 * CollectedKeys collected} before; many of these are divided into partitions, which are sorted one
 * after the other. Neither the memory nor the number of threads affects what comes out. Not
 * thread-safe.
 */
final class OrderStage {
  static final String EQUAL = "two keys in order are equal";

  /** How many records pass between two reports of progress. */
  private static final int REPORT = 1 << 16;

  private final Assembled assembled;
  private final RecordTotals totals;
  private final BuildPlace place;
  private final ChunkBuffer chunk;
  private final SortLimits limits;
  private final AssemblyProgress progress;

  /**
   * Creates the stage.
   *
   * @param assembled the finished files of the database, whose layout is packed
   * @param totals the records added
   * @param chunk write buffer of the file. The caller closes it, after the file
   */
  OrderStage(
      Assembled assembled,
      RecordTotals totals,
      BuildPlace place,
      ChunkBuffer chunk,
      BuildOptions options,
      AssemblyProgress progress) {
    this.assembled = assembled;
    this.totals = totals;
    this.place = place;
    this.chunk = chunk;
    this.limits = new SortLimits(options.memoryBytes(), options.threads());
    this.progress = progress;
  }

  /**
   * Writes the order of the keys, which were collected while the database was packed or merged.
   *
   * @param resources closes its file
   * @param collected is closed
   * @return the database with the file
   */
  Assembled add(Resources resources, CollectedKeys collected) throws IOException {
    try (collected) {
      KeySpill divided = collected.divided();
      if (divided != null) {
        return written(
            resources,
            writer ->
                new KeySorter<KeySpill>(limits, keys -> new Run(keys.spill(), writer), progress)
                    .write(divided));
      }
      KeyRun run = collected.inMemory();
      run.sort();
      return written(
          resources,
          writer -> {
            for (int i = 0; i < run.count(); i++) {
              int shared = i == 0 ? OrderWriter.UNKNOWN : run.sharedWithLast(i);
              put(writer, run.bytes(), run.start(i), run.end(i), shared);
              report(writer);
            }
          });
    }
  }

  /** Keys in ascending order, each once. */
  @FunctionalInterface
  interface SortedKeys {
    /** Returns the next key, or null if there is none. */
    byte @Nullable [] next() throws IOException;
  }

  /**
   * Writes the order of the keys, which are known in order.
   *
   * @param resources closes its file
   * @return the database with the file
   */
  Assembled add(Resources resources, SortedKeys sorted) throws IOException {
    return written(
        resources,
        writer -> {
          for (byte[] key = sorted.next(); key != null; key = sorted.next()) {
            put(writer, key, 0, key.length, OrderWriter.UNKNOWN);
            report(writer);
          }
        });
  }

  /** The file of keys that are not sorted in memory all at once. */
  static Path spillFile(BuildPlace place) {
    return place.temporaryDirectory().resolve("order.part");
  }

  /** Passes keys on in ascending order. */
  @FunctionalInterface
  private interface Source {
    void into(OrderWriter writer) throws IOException;
  }

  /** Writes the file. */
  private Assembled written(Resources resources, Source source) throws IOException {
    OutputFile file =
        resources.add(new OutputFile(place.directory(), OrderWriter.identity(), chunk));
    OrderWriter writer = new OrderWriter(file.pages(), AddressBits.NONE.all());
    source.into(writer);
    List<Long> levels = writer.finish();
    file.finish();
    if (writer.records() != assembled.keys()) {
      throw new IllegalStateException(
          writer.records() + " keys in order, but " + assembled.keys() + " in the database");
    }
    report(totals.records());
    progress.ended(Stage.ORDER);
    List<Content> contents = new ArrayList<>(assembled.contents());
    contents.add(new Content(file, file.pages().position()));
    return new Assembled(
        assembled.keys(),
        assembled.valuesCut(),
        assembled.hashBuckets(),
        assembled.zstdLongest(),
        assembled.bins(),
        assembled.filter(),
        new Facts.Order(levels, AddressBits.NONE),
        contents);
  }

  /**
   * Writes the next key, which is greater than the last one.
   *
   * @param sharedWithLast bytes that it has in common with the last key, or {@link
   *     OrderWriter#UNKNOWN}
   */
  private static void put(OrderWriter writer, byte[] key, int from, int to, int sharedWithLast)
      throws IOException {
    if (!writer.add(key, from, to, sharedWithLast, 0)) {
      throw new IllegalStateException(EQUAL);
    }
  }

  /** Reports what is written, from time to time. */
  private void report(OrderWriter writer) {
    if (writer.records() % REPORT == 0) {
      report(writer.records());
    }
  }

  private void report(long done) {
    progress.checkNotCancelled();
    progress.progress(Stage.ORDER, done);
  }

  /** The keys of a partition in memory. */
  private static final class Run implements KeySorter.Run {
    private final Spill spill;
    private final OrderWriter writer;
    private final KeyRun keys = new KeyRun(0, 0);
    private char[] shared = new char[0];

    Run(Spill spill, OrderWriter writer) {
      this.spill = spill;
      this.writer = writer;
    }

    @Override
    public void reserve(int partition) {
      keys.clear((int) spill.count(partition), spill.bytes(partition));
    }

    @Override
    public void sort(int partition) throws IOException {
      reserve(partition);
      spill.read(partition, keys::addEntries);
      keys.sort();
      shared = keys.sharedWithLast(shared);
    }

    @Override
    public void write() throws IOException {
      for (int i = 0; i < keys.count(); i++) {
        int known = i == 0 ? OrderWriter.UNKNOWN : shared[i];
        put(writer, keys.bytes(), keys.start(i), keys.end(i), known);
      }
    }

    @Override
    public int count() {
      return keys.count();
    }
  }
}
