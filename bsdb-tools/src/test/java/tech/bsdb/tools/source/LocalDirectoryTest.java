package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A local directory. */
class LocalDirectoryTest extends DistantDirectoryContract {
  @TempDir Path folder;

  @Override
  DistantDirectory fresh() throws IOException {
    return DistantDirectory.open("file:" + folder.resolve("store"), FileSourceOptions.local());
  }

  @Test
  void neverWritesThroughALink() throws Exception {
    Path mine = Files.writeString(folder.resolve("mine"), "precious");
    Path store = Files.createDirectory(folder.resolve("store"));
    Files.createSymbolicLink(store.resolve("soft"), mine);
    Files.createLink(store.resolve("hard"), mine);
    Files.createSymbolicLink(store.resolve(".CURRENT.new"), mine);
    try (DistantDirectory directory = fresh()) {
      directory.write("soft", new ByteArrayInputStream(new byte[3]));
      directory.write("hard", new ByteArrayInputStream(new byte[3]));
      directory.replace("CURRENT", new byte[3]);
    }
    assertThat(mine).hasContent("precious");
    assertThat(store.resolve("soft")).hasBinaryContent(new byte[3]);
    assertThat(store.resolve("hard")).hasBinaryContent(new byte[3]);
    assertThat(store.resolve("CURRENT")).hasBinaryContent(new byte[3]).isRegularFile();
  }
}
