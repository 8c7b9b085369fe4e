package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** A local directory. */
class LocalDirectoryTest extends DistantDirectoryContract {
  @TempDir Path folder;

  @Override
  DistantDirectory fresh() throws IOException {
    return DistantDirectory.open("file:" + folder.resolve("store"), FileSourceOptions.local());
  }
}
