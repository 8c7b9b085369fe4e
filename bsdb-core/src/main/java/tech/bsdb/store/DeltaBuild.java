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
import tech.bsdb.RecordBatch;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Shipment;

/**
 * Writes the changes between two databases as a third one, whose values have a byte before them: a
 * value, or a deletion. Used by one thread.
 */
public final class DeltaBuild {
  /** Parts of a database, in bytes, of which its changes are one at most to be worth their fold. */
  private static final int WORTH = 3;

  /** Blocks so large that small records compress, too. */
  private static final int BLOCK = 1 << 15;

  private static final int LEVEL = 3;

  private final Path before;
  private final Path after;
  private final DiffListener listener;

  /**
   * Opens nothing yet.
   *
   * @param before a database or a set of shards
   * @param after another one
   * @param listener receives the progress of the comparison
   */
  public DeltaBuild(Path before, Path after, DiffListener listener) {
    this.before = before;
    this.after = after;
    this.listener = listener;
  }

  /**
   * Writes the changes.
   *
   * @param base the name of the version that is the database before
   * @param target the directory of the new database, which must not exist
   * @param memoryBytes memory to sort them
   * @throws NoDeltaException if a fold would not give the bytes of the database after, or the
   *     changes are so large that the whole database may as well travel
   */
  public Delta write(String base, Path target, long memoryBytes) throws IOException {
    List<Delta.Part> parts = parts();
    try (Database from = Database.open(before);
        Database to = Database.open(after)) {
      requireFoldable(from, to);
      BuildOptions options = BuildOptions.of(to);
      BuildOptions changes =
          BuildOptions.defaults()
              .withLayout(Layout.PACKED_COMPRESSED)
              .withBlockSize(BLOCK)
              .withCompressionLevel(LEVEL)
              .withDictionaryBytes(0)
              .withMemoryBytes(memoryBytes)
              .withShards(options.shards());
      if (options.onlyShard().isPresent()) {
        changes = changes.withOnlyShard(options.onlyShard().getAsInt());
      }
      try (DatabaseBuilder builder = DatabaseBuilder.create(target, changes)) {
        long most = to.statistics().databaseBytes() / WORTH;
        DiffOptions values = DiffOptions.defaults().withDetail(DiffOptions.Detail.VALUES);
        Database.diff(from, to, values, new Changes(builder, most, listener));
        builder.finish();
      }
    }
    return new Delta(base, parts);
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
    if (to.statistics().longestValue() == RecordBatch.MAX_VALUE_LENGTH) {
      throw new NoDeltaException("a value has the most bytes that fit, so no byte before it does");
    }
  }

  /** Receives what differs, and adds it. */
  private record Changes(DatabaseBuilder builder, long most, DiffListener listener, long[] bytes)
      implements DiffListener {
    Changes(DatabaseBuilder builder, long most, DiffListener listener) {
      this(builder, most, listener, new long[1]);
    }

    @Override
    public boolean differs(
        Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after)
        throws IOException {
      byte[] tagged = {Delta.DELETION};
      if (difference != Difference.REMOVED) {
        byte[] value = Objects.requireNonNull(after);
        tagged = new byte[1 + value.length];
        tagged[0] = Delta.VALUE;
        System.arraycopy(value, 0, tagged, 1, value.length);
      }
      bytes[0] += key.length + (long) tagged.length;
      if (bytes[0] > most) {
        throw new NoDeltaException(
            "they have more than a third of the bytes of the whole database");
      }
      builder.add(key, tagged);
      return true;
    }

    @Override
    public void progress(long doneRecords, long totalRecords) {
      listener.progress(doneRecords, totalRecords);
    }
  }
}
