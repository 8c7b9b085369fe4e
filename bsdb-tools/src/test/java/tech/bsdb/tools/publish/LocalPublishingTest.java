package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.publish.Checks.VersionRefusedException;

/** What was merged from a version is published only while that version is current. */
class LocalPublishingTest {
  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private LocalPublishing publishing() throws Exception {
    Syntax syntax = Syntax.of("merge");
    Console console =
        new Console(
            InputStream.nullInputStream(),
            OutputStream.nullOutputStream(),
            OutputStream.nullOutputStream(),
            false);
    return new LocalPublishing(syntax.parse(List.of("--json", "--version", "new")), console);
  }

  @Test
  void anotherVersionThatBecameCurrentIsNotLost() throws Exception {
    Files.writeString(folder.resolve("in"), "a 1\n");
    bsdb("build", "-i", path("in"), "-o", path("db"));
    bsdb("publish", path("db"), path("store"), "--version", "v1");
    bsdb("publish", path("db"), path("store"), "--version", "v2");
    Path store = folder.resolve("store");

    assertThatThrownBy(() -> publishing().run("bsdb merge", folder.resolve("db"), store, "v1"))
        .isInstanceOf(VersionRefusedException.class)
        .hasMessage(
            "v1, from which it was merged, is no longer the current version: v2 is; merge again");
    assertThat(bsdb("versions", path("store")).out()).doesNotContain("new");

    assertThat(publishing().run("bsdb merge", folder.resolve("db"), store, "v2"))
        .containsEntry("version", "new")
        .containsEntry("previous", "v2");
  }
}
