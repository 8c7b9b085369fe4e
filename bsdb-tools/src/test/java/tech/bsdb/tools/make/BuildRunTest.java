package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;

class BuildRunTest {
  private static final IOException FULL = new IOException("No space left on device");

  @TempDir Path folder;

  @Test
  void aDiskFullErrorNamesThePathAndItsFreeSpace() {
    TargetOptions target =
        new TargetOptions(
            folder.resolve("db"),
            BuildOptions.defaults().withTemporaryDirectory(folder.resolve("tmp")));

    assertThat(BuildRun.withSpace(FULL, target, true))
        .message()
        .startsWith("No space left on device: -o " + folder.resolve("db") + " (")
        .contains(" MB free), -temp " + folder.resolve("tmp") + " (");
    IOException other = new IOException("Input/output error");
    assertThat(BuildRun.withSpace(other, target, true)).isSameAs(other);
  }

  @Test
  void aDiskFullErrorOfAPackedBuildNamesALayoutThatTakesLess() {
    String advice = "; temporary files hold all records once: put them on another disk with -temp,";
    BuildOptions usual = BuildOptions.defaults();
    assertThat(message(usual, true))
        .endsWith(advice + " or build with --layout blocked, which takes 24 bytes a record there");
    assertThat(message(usual.withLayout(Layout.PACKED_COMPRESSED), true))
        .contains(advice + " or build with --layout compressed,");
    assertThat(message(usual, false)).as("a merge keeps its layout").endsWith(" MB free)");
    for (BuildOptions other :
        List.of(
            usual.withLayout(Layout.BLOCKED),
            usual.withLayout(Layout.PACKED).withOrderedKeys(true),
            usual.withApproximateWidth(8))) {
      assertThat(message(other, true)).endsWith(" MB free)");
    }
  }

  private String message(BuildOptions options, boolean chooses) {
    TargetOptions target = new TargetOptions(folder.resolve("db"), options);
    return BuildRun.withSpace(FULL, target, chooses).getMessage();
  }
}
