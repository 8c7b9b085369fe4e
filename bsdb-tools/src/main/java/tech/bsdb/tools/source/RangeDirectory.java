package tech.bsdb.tools.source;

import java.io.IOException;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.tools.input.InputException;

/** A directory elsewhere whose files can be read in ranges, too. Thread-safe. */
public interface RangeDirectory extends DistantDirectory, RangeOrigin {
  /**
   * Opens a directory on a file system of Hadoop, for reading. As far as the file system can be
   * told so, it asks for everything once: whoever reads tries again.
   *
   * @param location a URI such as {@code s3a://bucket/rdb}, or a path on the name node of the
   *     options
   * @throws InputException if its file system cannot be reached, for whatever reason
   */
  static RangeDirectory open(String location, FileSourceOptions options) throws IOException {
    FileSources.requireHadoop(
        RangeDirectory.class.getClassLoader(), location + " cannot be reached without it");
    return HadoopDirectory.forRanges(location, options);
  }
}
