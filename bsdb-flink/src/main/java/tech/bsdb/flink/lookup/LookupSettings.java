package tech.bsdb.flink.lookup;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a table looks up, and how. Immutable; travels to the task managers.
 *
 * @param path the location of the store or database, as users write it
 * @param inPlace whether a store elsewhere is read in place rather than copied
 * @param directory where copies and pages are kept; null for a directory of this machine's
 * @param poll the interval between two looks for another version
 * @param keys the columns of the primary key, in order
 * @param keyJoin the text between them
 * @param batch the most keys of a batch
 * @param threads the batches of a subtask at the same time
 */
public record LookupSettings(
    String path,
    boolean inPlace,
    @Nullable String directory,
    Duration poll,
    List<String> keys,
    String keyJoin,
    int batch,
    int threads)
    implements Serializable {
  /** Copies the list. */
  public LookupSettings {
    keys = List.copyOf(keys);
  }
}
