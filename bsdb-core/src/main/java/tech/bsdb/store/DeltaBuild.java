package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.DiffListener;
import tech.bsdb.DiffOptions;
import tech.bsdb.Layout;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Shipment;

/**
 * Writes the changes between two databases as a third one, whose values have a byte before them: a
 * value, or a deletion. Used by one thread.
 */
public final class DeltaBuild {
  /** Parts of a database, in bytes, of which its changes are one at most to be worth their fold. */
  private static final int WORTH = 3;

  /** Blocks large enough for small records to compress. */
  private static final int BLOCK = 1 << 15;

  private static final int LEVEL = 3;

  /** The most bytes of a changed value: a fold holds them in memory, several times. */
  private static final int LONGEST = 4 << 20;

  private final Path before;
  private final Path after;
  private final DiffListener listener;
  private final Runnable checkOpen;

  /**
   * Opens nothing yet.
   *
   * @param before a database or a set of shards
   * @param after another one
   * @param listener receives the progress of the comparison
   * @param checkOpen called often; throws to cancel
   */
  public DeltaBuild(Path before, Path after, DiffListener listener, Runnable checkOpen) {
    this.before = before;
    this.after = after;
    this.listener = listener;
    this.checkOpen = checkOpen;
  }

  /**
   * Writes the changes. If this fails, nothing is left.
   *
   * @param base the name of the version that is the database before
   * @param target the directory of the new database, which must not exist
   * @param memoryBytes memory to sort them
   * @throws NoDeltaException if a fold would not give the bytes of the database after, or the
   *     changes are so large that the whole database may as well be sent
   */
  public Delta write(String base, Path target, long memoryBytes) throws IOException {
    Delta delta = describe(base);
    try (Database from = Database.open(before);
        Database to = Database.open(after)) {
      requireFoldable(from, to);
      requireHashes();
      BuildOptions options = BuildOptions.of(to);
      BuildOptions changes =
          BuildOptions.defaults()
              .withLayout(Layout.PACKED_COMPRESSED)
              .withBlockSize(BLOCK)
              .withCompressionLevel(LEVEL)
              .withDictionaryBytes(0)
              .withMemoryBytes(memoryBytes)
              .withSignature(options.signature())
              .withSeed(options.seed())
              .withShards(options.shards());
      if (options.onlyShard().isPresent()) {
        changes = changes.withOnlyShard(options.onlyShard().getAsInt());
      }
      try (DatabaseBuilder builder =
          DatabaseBuilder.create(target, changes, (stage, done, all) -> checkOpen.run())) {
        long most = to.statistics().databaseBytes() / WORTH;
        DiffOptions values = DiffOptions.defaults().withDetail(DiffOptions.Detail.VALUES);
        Database.diff(from, to, values, new Changes(builder, most));
        if (builder.finish().databaseBytes() > most) {
          Fold.clear(target);
          throw tooMany();
        }
      }
    }
    return delta;
  }

  /**
   * The description of the changes. Reads only manifests.
   *
   * @param base the name of the version that is the database before
   * @throws NoDeltaException if they are the same, or have different shards
   */
  public Delta describe(String base) throws IOException {
    return new Delta(base, parts());
  }

  /** The databases that differ. */
  private List<Delta.Part> parts() throws IOException {
    List<Integer> numbers = Database.statistics(after).heldShards();
    List<Shipment.Part> old = Consignment.of(before).parts();
    List<Shipment.Part> now = Consignment.of(after).parts();
    if (!Database.statistics(before).heldShards().equals(numbers) || old.size() != now.size()) {
      throw new NoDeltaException("the two have different shards");
    }
    List<Delta.Part> parts = new ArrayList<>();
    for (int i = 0; i < now.size(); i++) {
      if (!old.get(i).id().equals(now.get(i).id())) {
        int number = numbers.isEmpty() ? 0 : numbers.get(i);
        parts.add(new Delta.Part(number, old.get(i).id(), now.get(i).id()));
      }
    }
    if (parts.isEmpty()) {
      throw new NoDeltaException("they are the same database");
    }
    return parts;
  }

  private void requireHashes() throws IOException {
    if (!Consignment.of(after).hasContentHashes()) {
      throw new NoDeltaException("an older version built it, without content hashes");
    }
  }

  private static void requireFoldable(Database from, Database to) throws NoDeltaException {
    BuildOptions options = BuildOptions.of(to);
    if (options.layout() != Layout.PACKED) {
      throw new NoDeltaException(
          "the bytes of layout %s depend on the order in which records were added; only those of %s"
              .formatted(to.statistics().layout(), "packed do not"));
    }
    if (!options.equals(BuildOptions.of(from))) {
      throw new NoDeltaException("the two were built with different options");
    }
    if (to.statistics().duplicatesDropped() > 0) {
      throw new NoDeltaException("duplicates were dropped when it was built, and count in it");
    }
  }

  private static NoDeltaException tooMany() {
    return new NoDeltaException("they have more than a third of the bytes of the whole database");
  }

  /** Receives what differs, and adds it. */
  private final class Changes implements DiffListener {
    private final DatabaseBuilder builder;
    private final long most;
    private long bytes;

    Changes(DatabaseBuilder builder, long most) {
      this.builder = builder;
      this.most = most;
    }

    @Override
    public boolean differs(
        Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
        throws IOException {
      byte[] tagged = {Delta.DELETION};
      if (difference != Difference.REMOVED) {
        byte[] value = Objects.requireNonNull(after);
        if (value.length > LONGEST) {
          throw new NoDeltaException("one of them has a value of " + value.length + " bytes");
        }
        tagged = new byte[1 + value.length];
        tagged[0] = Delta.VALUE;
        System.arraycopy(value, 0, tagged, 1, value.length);
      }
      bytes += key.length + (long) tagged.length;
      if (bytes > most) {
        throw tooMany();
      }
      builder.add(key, tagged);
      return true;
    }

    @Override
    public void progress(long doneRecords, long totalRecords) {
      checkOpen.run();
      listener.progress(doneRecords, totalRecords);
    }
  }
}
