package tech.bsdb.lake.delta;

import io.delta.kernel.defaults.engine.fileio.InputFile;
import io.delta.kernel.defaults.engine.hadoopio.HadoopFileIO;
import org.apache.hadoop.conf.Configuration;

/**
 * Opens the files of a table for Kernel, whose errors do not name the file. Notes which one each
 * thread opened last.
 */
final class NotedFiles extends HadoopFileIO {
  private final ThreadLocal<String> last = ThreadLocal.withInitial(() -> "");

  NotedFiles(Configuration configuration) {
    super(configuration);
  }

  @Override
  public InputFile newInputFile(String path, long size) {
    last.set(path);
    return super.newInputFile(path, size);
  }

  /** Returns the path of the file that this thread opened last; empty if it opened none. */
  String last() {
    return last.get();
  }
}
