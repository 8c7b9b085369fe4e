package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;

class VersionsCommandTest {
  @TempDir Path folder;
  private Path store;

  @BeforeEach
  void publish() throws IOException {
    store = folder.resolve("store");
    Path input = Files.writeString(folder.resolve("input"), "key value\n");
    String database = folder.resolve("database").toString();
    bsdb("build", "-i", input.toString(), "-o", database, "-q");
    for (String version : new String[] {"v1", "v2"}) {
      CommandRun run = bsdb("publish", database, store.toString(), "--version", version, "-q");
      assertThat(run.code()).as(run.toString()).isZero();
    }
  }

  private void assertNoted(String why) {
    String note =
        "bsdb versions: no version is current: %s; to make one current: bsdb rollback %s VERSION\n"
            .formatted(why, store);
    CommandRun run = bsdb("versions", store.toString());
    assertThat(run.code()).isZero();
    assertThat(run.out()).isEqualTo("v1\nv2\n");
    assertThat(run.err()).isEqualTo(note);
    assertThat(bsdb("versions", store.toString(), "--json").err()).isEqualTo(note);
  }

  @Test
  void thatNoVersionIsCurrentIsNoted() throws Exception {
    Path pointer = store.resolve("CURRENT");
    assertThat(bsdb("versions", store.toString()).err()).isEmpty();
    Files.writeString(pointer, "v3\n");
    assertNoted("CURRENT names v3, which is not there");
    Files.writeString(pointer, "");
    assertNoted("CURRENT is missing or names none");
    Files.delete(pointer);
    assertNoted("CURRENT is missing or names none");
  }
}
