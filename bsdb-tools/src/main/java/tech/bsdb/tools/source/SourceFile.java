package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.io.InputFile;
import org.jspecify.annotations.Nullable;

/**
 * A file to read.
 *
 * @param name the name shown to users: a path, or a URI if it is not local
 * @param length the length in bytes when the inputs were listed
 * @param file the Parquet input; each of its streams is for one thread, and its opener closes it
 *     before the {@link FileSources}
 * @param local its path, or null if it is not local
 * @param partitions the directories named {@code NAME=VALUE} on its path, from the top
 */
public record SourceFile(
    String name, long length, InputFile file, @Nullable Path local, List<String> partitions) {
  /** Copies the list. */
  public SourceFile {
    partitions = List.copyOf(partitions);
  }

  /**
   * Whether it is unchanged since the inputs were listed, as far as can be detected: by length and
   * modification time for a local file. For other files that is left to their servers.
   */
  public boolean isUnchanged() {
    return !(file instanceof LocalParquet here) || here.isUnchanged();
  }

  /** Opens it for reading from any position. */
  public SourceInput open() throws IOException {
    return new SourceInput(name, file.newStream());
  }
}
