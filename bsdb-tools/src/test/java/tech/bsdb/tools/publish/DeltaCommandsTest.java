package tech.bsdb.tools.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;

/** Changes that are pushed or published with a version, and pulled alone. */
class DeltaCommandsTest {
  private static final int RECORDS = 5_000;

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** Builds the database of a day: a hundredth of the records changes from one to the next. */
  private String build(int day, String... options) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < RECORDS; i++) {
      int changed = i % 100 < day ? i % 100 + 1 : 0;
      lines.append("key-" + i + " value " + i + " of " + changed + "\n");
    }
    String target = path("day-" + day);
    Path input = Files.writeString(folder.resolve("input.txt"), lines);
    Stream<String> line =
        Stream.of("build", "-i", input.toString(), "-o", target, "--overwrite", "-q");
    ok(bsdb(Stream.concat(line, Stream.of(options)).toArray(String[]::new)));
    return target;
  }

  private static CommandRun ok(CommandRun run) {
    assertThat(run.code()).as(run.toString()).isZero();
    return run;
  }

  private String get(String store, String key) {
    return ok(bsdb("get", "-d", store, key)).out();
  }

  @Test
  void changesArePulledAlone() throws IOException {
    String far = path("far");
    String near = path("near");
    ok(bsdb("push", build(0), far, "--version", "v0"));
    ok(bsdb("pull", far, near));
    CommandRun pushed =
        ok(bsdb("push", build(1), far, "--version", "v1", "--delta-from", path("day-0")));
    assertThat(pushed.err()).contains("the changes since v0 go with it: ");
    CommandRun pulled = ok(bsdb("pull", far, near));
    assertThat(pulled.out()).isEqualTo("v1\n");
    assertThat(pulled.err())
        .contains("; the database was built from them and an older version")
        .doesNotContain("were in the store");
    assertThat(get(near, "key-100")).contains("value 100 of 1");
    try (Stream<Path> files = Files.list(Path.of(near, "v1"))) {
      for (Path file : files.toList()) {
        Path other = Path.of(path("day-1")).resolve(file.getFileName());
        assertThat(Files.mismatch(file, other)).isEqualTo(-1);
      }
    }

    CommandRun again =
        ok(bsdb("push", path("day-1"), far, "--delta-from", path("day-0"), "--json"));
    assertThat(again.out()).contains("\"sentBytes\":0,").contains("\"deltaFrom\":\"v0\"");

    ok(
        bsdb(
            "push",
            build(2),
            far,
            "--version",
            "v2",
            "--delta-from",
            path("day-1"),
            "--keep",
            "1"));
    assertThat(Path.of(far, ".deltas/v1")).exists();
    ok(
        bsdb(
            "push",
            build(3),
            far,
            "--version",
            "v3",
            "--delta-from",
            path("day-2"),
            "--keep",
            "1"));
    assertThat(Path.of(far, ".deltas/v1")).doesNotExist();
    assertThat(ok(bsdb("pull", far, near, "--json")).out()).contains("\"folded\":1");
    assertThat(get(near, "key-102")).contains("value 102 of 3");
  }

  @Test
  void whoWantsWholeVersionsGetsThem() throws IOException {
    String far = path("far");
    String near = path("near");
    ok(bsdb("push", build(0), far));
    ok(bsdb("pull", far, near));
    ok(bsdb("push", build(1), far, "--delta-from", path("day-0")));
    assertThat(ok(bsdb("pull", far, near, "--fold-memory", "0", "--json")).out())
        .contains("\"folded\":0");
  }

  @Test
  void theOlderDatabaseMayBeAVersionOfTheStoreThatIsPushed() throws IOException {
    String far = path("far");
    String mine = path("mine");
    ok(bsdb("publish", build(0), mine, "--version", "a"));
    ok(bsdb("push", mine, far, "--version", "v0"));
    ok(bsdb("publish", build(1), mine, "--version", "b"));
    CommandRun pushed = ok(bsdb("push", mine, far, "--delta-from", "a", "--json"));
    assertThat(pushed.out()).contains("\"deltaFrom\":\"v0\"").contains("\"whole\":null");
    assertThat(Path.of(far, ".deltas")).isNotEmptyDirectory();
  }

  @Test
  void aPublishedVersionMayHaveItsChanges() throws IOException {
    String store = path("store");
    String near = path("near");
    ok(bsdb("publish", build(0), store, "--version", "v0"));
    ok(bsdb("pull", store, near));
    CommandRun published =
        ok(bsdb("publish", build(1), store, "--version", "v1", "--delta-from", "v0"));
    assertThat(published.err()).contains("the changes since v0 are with it");
    assertThat(ok(bsdb("pull", store, near, "--json")).out()).contains("\"folded\":1");
    CommandRun missing = bsdb("publish", build(2), store, "--delta-from", "v7");
    assertThat(missing.code()).isEqualTo(2);
    assertThat(missing.err()).contains("v7");
    assertThat(ok(bsdb("versions", store)).out()).isEqualTo("v0\nv1\tcurrent\n");
  }

  @Test
  void whatCannotBeMadeIsSentWholeAndSaysWhy() throws IOException {
    String far = path("far");
    ok(bsdb("push", build(0, "--layout", "blocked"), far));
    CommandRun blocked =
        ok(bsdb("push", build(1, "--layout", "blocked"), far, "--delta-from", path("day-0")));
    assertThat(blocked.err()).contains("no changes go with it: the bytes of layout blocked");
    CommandRun unknown = ok(bsdb("push", build(2), far, "--delta-from", path("day-0"), "--json"));
    assertThat(unknown.out()).contains("\"whole\":\"").contains("\"deltaFrom\":null");
    String elsewhere = path("elsewhere");
    CommandRun first = ok(bsdb("push", build(3), elsewhere, "--delta-from", path("day-2")));
    assertThat(first.err()).contains("no changes go with it: no other version of the store is");
    assertThat(Path.of(elsewhere, ".deltas")).doesNotExist();
  }

  @Test
  void mistakesAreNamed() throws IOException {
    String far = path("far");
    String database = build(0);
    CommandRun missing = bsdb("push", database, far, "--delta-from", path("no-such"));
    assertThat(missing.code()).as(missing.toString()).isEqualTo(2);
    assertThat(missing.err()).contains("no-such");
    CommandRun alone = bsdb("push", database, far, "-temp", path("tmp"));
    assertThat(alone.code()).isEqualTo(2);
    assertThat(alone.err()).contains("-temp is for changes; add --delta-from OLDER");
    CommandRun empty = bsdb("push", database, far, "--delta-from", "");
    assertThat(empty.code()).isEqualTo(2);
    CommandRun temporary =
        bsdb("push", database, far, "--delta-from", database, "-temp", path("no-such"));
    assertThat(temporary.code()).isEqualTo(2);
    assertThat(temporary.err()).contains("-temp: " + path("no-such") + " is not a directory");
    assertThat(bsdb("pull", far, path("near"), "--fold-memory", "-1").code()).isEqualTo(2);
  }
}
