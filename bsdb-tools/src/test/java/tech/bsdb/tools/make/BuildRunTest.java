package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;

class BuildRunTest {
  @TempDir Path folder;

  @Test
  void aDiskFullErrorNamesThePathAndItsFreeSpace() {
    TargetOptions target =
        new TargetOptions(
            folder.resolve("db"),
            BuildOptions.defaults().withTemporaryDirectory(folder.resolve("tmp")));

    assertThat(BuildRun.withSpace(new IOException("No space left on device"), target))
        .message()
        .startsWith("No space left on device: -o " + folder.resolve("db") + " (")
        .contains(" MB free), -temp " + folder.resolve("tmp") + " (");
    IOException other = new IOException("Input/output error");
    assertThat(BuildRun.withSpace(other, target)).isSameAs(other);
  }
}
