package tech.bsdb.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.remote.RangeServer;
import tech.bsdb.remote.RangeServer.Fault;
import tech.bsdb.tools.CommandRun;

/** Commands that read a database on a web server. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class WebPlaceTest {
  @TempDir Path folder;
  private Path served;
  private RangeServer server;

  @BeforeEach
  void serve() throws Exception {
    served = Files.createDirectory(folder.resolve("served"));
    StringBuilder records = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      records.append("k").append(i).append(" v").append(i).append('\n');
    }
    Path input = Files.writeString(folder.resolve("in.txt"), records);
    run("build", "-i", input.toString(), "-o", local(), "-q");
    server = RangeServer.of(served);
  }

  @AfterEach
  void close() throws Exception {
    server.close();
  }

  private String local() {
    return served.resolve("rdb").toString();
  }

  private String place() {
    return server.uri().resolve("rdb").toString();
  }

  private static CommandRun run(String... line) {
    CommandRun run = bsdb(line);
    assertThat(run.code()).as(run.toString()).isZero();
    return run;
  }

  private CommandRun read(String command, String... more) {
    List<String> line = new ArrayList<>(List.of(command, "-d", place()));
    line.addAll(List.of("--cache-dir", folder.resolve("cache").toString()));
    line.addAll(List.of(more));
    return bsdb(line.toArray(String[]::new));
  }

  @Test
  void everythingIsReadWhereItLies() throws Exception {
    CommandRun got = read("get", "k7", "none", "k1999");
    assertThat(got.out()).as(got.toString()).isEqualTo("v7\nv1999\n");
    assertThat(got.err()).isEqualTo("bsdb get: \"none\" is absent\n");
    assertThat(got.code()).isEqualTo(1);
    assertThat(read("scan").out()).isEqualTo(run("scan", "-d", local()).out());
    assertThat(read("scan", "--limit", "3", "--keys-only").out().lines()).hasSize(3);
    assertThat(read("stat", "--json").out()).contains("\"directory\":\"" + place() + "\"");
    assertThat(read("stat").out()).contains(place()).doesNotContain("cache");
    assertThat(read("verify").err()).startsWith("verified " + place() + ": 2,000 records read");
    assertThat(read("verify", "--json").out()).contains("\"directory\":\"" + place() + "\"");
    assertThat(
            run("diff", local(), place(), "--cache-dir", folder.resolve("cache").toString()).out())
        .isEqualTo("2,000 records kept, 0 added, 0 removed, 0 changed\n");
    assertThat(server.answered()).allMatch(each -> each.method().equals("GET"));
  }

  /** A single key needs neither the index nor CURRENT. */
  @Test
  void aSingleKeyTakesTwoRequests() {
    CommandRun got = read("get", "k7", "--value-encoding", "hex");
    assertThat(got.out()).as(got.toString()).isEqualTo("7637\n");
    assertThat(server.answered()).hasSize(2);
    CommandRun absent = read("get", "none");
    assertThat(absent.code()).isEqualTo(1);
    assertThat(absent.err()).isEqualTo("bsdb get: \"none\" is absent\n");
    assertThat(read("get", "none", "-q").err()).isEmpty();
    assertThat(read("get", "k7", "--json").out()).isEqualTo("{\"key\":\"k7\",\"value\":\"v7\"}\n");
    assertThat(read("get", "k7", "--cache", "1M").out()).isEqualTo("v7\n");
    server.forget();
    assertThat(read("get", "k7", "--cache", "1M").out()).isEqualTo("v7\n");
    assertThat(server.answered())
        .as("the page is on disk")
        .noneMatch(each -> each.path().contains("data"));
  }

  @Test
  void aStoreIsReadByItsCurrentVersion() throws Exception {
    run("publish", local(), served.resolve("store").toString(), "--version", "v1", "-q");
    String store = server.uri().resolve("store/").toString();
    CommandRun got =
        bsdb("get", "-d", store, "k7", "--cache-dir", folder.resolve("cache").toString());
    assertThat(got.out()).as(got.toString()).isEqualTo("v7\n");
    assertThat(got.err()).isEqualTo("bsdb get: reading " + store + "v1, the current version\n");
  }

  @Test
  void failuresAreOneLine() {
    assertError("stat", 404, "is neither a bsdb database nor a store");
    assertError("get", 403, place());
    assertError("scan", 401, place());
    assertError("verify", 400, place());
  }

  private void assertError(String command, int status, String words) {
    server.rule(request -> Fault.none().status(status));
    CommandRun run =
        command.equals("get") ? read(command, "k7", "-q") : read(command, "--deadline", "20");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).startsWith("bsdb " + command + ": ").contains(words);
  }
}
