package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.tools.PartialSets;

/** The page as a browser shows it; only where Chromium is installed. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrowserTest {
  @TempDir Path folder;

  @Test
  void thePageShowsWhatIsServed() throws Exception {
    Path chromium = chromium();
    Path database = folder.resolve("the-database");
    BuildOptions options = BuildOptions.defaults().withLayout(Layout.BLOCKED);
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      builder.add(new byte[] {'k'}, new byte[] {'v'});
      builder.finish();
    }
    Path log = folder.resolve("access.log");
    Serving service = new Serving(database);
    service.accessLog = log.toString();
    try (Serving serving = service.start();
        Wire wire = serving.connect()) {
      wire.get("/bsdb/k");
      String page = shown(chromium, "http://127.0.0.1:" + serving.port() + "/");
      assertThat(page)
          .contains("the-database", "blocked", "One in 16 absent keys costs a read", "4 per key");
      assertThat(page).doesNotContain("Content Security Policy");
    }
    assertThat(log).content().contains("\"GET /stats ", "\"GET /history ");
  }

  @Test
  void thePageSaysWhichShardsAreServed() throws Exception {
    Path chromium = chromium();
    Path set = Serving.buildSet(folder.resolve("set"), 3, Map.of("k", "v"));
    Path shard = Serving.shardWithout(set, "k");
    String number = String.valueOf(Integer.parseInt(shard.getFileName().toString(), 6, 11, 10));
    Path part = PartialSets.copy(set, folder.resolve("part"), 0, 2);
    Map<Path, String> expected =
        Map.of(
            set, "<dd>all 3</dd>", shard, "<dd>only number " + number, part, "<dd>only 0,2 of 3<");
    for (Path directory : List.of(set, shard, part)) {
      try (Serving serving = new Serving(directory).start()) {
        assertThat(shown(chromium, "http://127.0.0.1:" + serving.port() + "/"))
            .contains(expected.get(directory));
      }
    }
  }

  @Test
  void aPackedDatabaseHasNoChecksumBits() throws Exception {
    Path chromium = chromium();
    Path database = folder.resolve("packed-database");
    BuildOptions options = BuildOptions.defaults().withLayout(Layout.PACKED);
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, options)) {
      builder.add(new byte[] {'k'}, new byte[] {'v'});
      builder.finish();
    }
    try (Serving serving = new Serving(database).start()) {
      String page = shown(chromium, "http://127.0.0.1:" + serving.port() + "/");
      assertThat(page)
          .contains("<dd>packed</dd>", "<dd title=\"Every absent key costs a read\">none</dd>");
    }
  }

  @Test
  void aNodeOfAClusterShowsItsSlots() throws Exception {
    Path chromium = chromium();
    Serving.build(folder.resolve("db"), Map.of("k", "v"));
    try (ServingCluster nodes = new ServingCluster(folder, true, Duration.ofHours(1), node -> {})) {
      nodes.move(List.of("0-99", "100-10922", "10923-16383"));
      nodes.writeText("{}");
      nodes.node("a").reloadFiles();
      String page = shown(chromium, "http://127.0.0.1:" + nodes.node("a").port() + "/");
      assertThat(page)
          .contains("Node a of a cluster of 6: primary, slots 0-99; still answers 100-5460")
          .contains("there are no nodes; list them in \"nodes\"", "The previous topology stays");
      assertThat(shown(chromium, "http://127.0.0.1:" + nodes.node("b2").port() + "/"))
          .contains("Node b2 of a cluster of 6: replica of b, slots 100-10922");
    }
  }

  private static Path chromium() {
    Optional<Path> installed =
        Stream.of("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
            .map(Path::of)
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(installed.isPresent(), "no Chromium here");
    return installed.orElseThrow();
  }

  /** The document once its script has run. */
  private String shown(Path chromium, String url) throws IOException, InterruptedException {
    Process browser =
        new ProcessBuilder(
                chromium.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--user-data-dir=" + folder.resolve("profile"),
                "--timeout=4000",
                "--virtual-time-budget=4000",
                "--enable-logging=stderr",
                "--dump-dom",
                url)
            .redirectError(folder.resolve("browser.log").toFile())
            .start();
    String document = new String(browser.getInputStream().readAllBytes(), UTF_8);
    browser.waitFor();
    return document + Files.readString(folder.resolve("browser.log"));
  }
}
