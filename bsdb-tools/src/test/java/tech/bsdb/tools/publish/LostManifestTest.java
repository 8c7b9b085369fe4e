package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;

/** A store that has lost CURRENT and the manifest of one of its versions. */
class LostManifestTest {
  @TempDir Path folder;
  private String store;
  private String database;

  @BeforeEach
  void damage() throws IOException {
    store = folder.resolve("store").toString();
    database = folder.resolve("database").toString();
    Path input = Files.writeString(folder.resolve("input"), "key value\n");
    done("build", "-i", input.toString(), "-o", database, "-q");
    for (String version : List.of("v1", "v2")) {
      done("publish", database, store, "--version", version, "-q");
    }
    Files.delete(Path.of(store, "CURRENT"));
    Files.delete(Path.of(store, "v1", "manifest.bsdb"));
  }

  private static CommandRun done(String... line) {
    CommandRun run = bsdb(line);
    assertThat(run.code()).as(run.toString()).isZero();
    return run;
  }

  @Test
  void aWholeVersionCanBeMadeCurrent() {
    assertThat(done("rollback", store, "v2").out()).isEqualTo("v2\n");
    assertThat(done("get", "-d", store, "key").out()).isEqualTo("value\n");
  }

  @Test
  void anotherIsPushed() {
    assertThat(done("push", database, store, "--version", "v3").out()).isEqualTo("v3\n");
    assertThat(done("versions", store).out()).contains("v2\nv3\tcurrent\n");
  }

  @Test
  void anotherIsPublished() {
    assertThat(done("publish", database, store, "--version", "v3").out()).isEqualTo("v3\n");
  }

  @Test
  void withoutAWholeVersionItIsNoStore() throws Exception {
    Files.delete(Path.of(store, "v2", "manifest.bsdb"));
    for (String command : List.of("rollback", "versions")) {
      assertThat(bsdb(command, store).err()).contains("is not a store: it has no CURRENT");
    }
    for (String command : List.of("push", "publish")) {
      assertThat(bsdb(command, database, store).err())
          .contains("is not a store: it has no CURRENT");
    }
  }

  @Test
  void withOtherFilesItIsNoStore() throws Exception {
    Files.writeString(Path.of(store, "v1", "thesis.tex"), "precious");
    assertThat(bsdb("rollback", store, "v2").err()).contains("is not a store: it has no CURRENT");
    for (String command : List.of("push", "publish")) {
      assertThat(bsdb(command, database, store).err())
          .contains("is not a store: it has no CURRENT");
    }
  }
}
