package tech.bsdb.tools.source;

import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.io.InputFile;
import org.jspecify.annotations.Nullable;

/**
 * One file.
 *
 * @param name as users know it: a path, or a URI where it is not a local one
 * @param length in bytes when the inputs were looked at
 * @param file how Parquet reads it; each of its streams is for one thread and closed by whoever
 *     opened it, before the {@link FileSources} is
 * @param local its path, or null where it is not a local one
 * @param partitions the directories on its path that are named {@code NAME=VALUE}, from the top
 */
public record SourceFile(
    String name, long length, InputFile file, @Nullable Path local, List<String> partitions) {
  /** Copies the list. */
  public SourceFile {
    partitions = List.copyOf(partitions);
  }

  /**
   * Whether it is as it was when the inputs were looked at, as far as can be seen: of a local file,
   * its length and when it was modified. What others do with files elsewhere, their servers see to.
   */
  public boolean isUnchanged() {
    return !(file instanceof LocalParquet here) || here.isUnchanged();
  }
}
