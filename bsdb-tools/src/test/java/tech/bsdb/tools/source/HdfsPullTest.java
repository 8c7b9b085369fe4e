package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.publish.Checks;
import tech.bsdb.tools.publish.FollowOptions;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.transfer.TransferOptions;

/** {@code bsdb push} to a real HDFS and {@code bsdb pull} from it. */
@Timeout(value = 180, unit = TimeUnit.SECONDS)
@Tag("nightly")
class HdfsPullTest {
  private static final int RECORDS = 3000;
  private static Hdfs hdfs;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    hdfs = Hdfs.running();
  }

  private static CommandRun ok(String... line) throws IOException {
    CommandRun run = bsdb(line);
    assertThat(run.code()).as(run.toString()).isZero();
    return run;
  }

  /** Builds a set of six shards; {@code changed} is the value of one key. */
  private String build(String changed) throws IOException {
    String lines =
        IntStream.range(0, RECORDS)
            .mapToObj(i -> "key-" + i + " value-" + i)
            .collect(Collectors.joining("\n", "", "\nchanged " + changed + "\n"));
    Path input = Files.writeString(folder.resolve(changed + ".txt"), lines);
    String target = folder.resolve(changed).toString();
    ok("build", "-i", input.toString(), "-o", target, "--shards", "6", "-q");
    return target;
  }

  private static long bytesIn(String json, String name) {
    int from = json.indexOf("\"" + name + "\":", json.indexOf("\"transferred\""));
    String after = json.substring(from + name.length() + 3);
    return Long.parseLong(after.replaceAll("[,}].*", "").strip());
  }

  private static byte[] read(org.apache.hadoop.fs.Path file) throws IOException {
    try (InputStream in = hdfs.fileSystem().open(file)) {
      return in.readAllBytes();
    }
  }

  @Test
  void setsTravelThereAndBack() throws Exception {
    String far = hdfs.uri() + "/stores/" + folder.getFileName();
    String store = folder.resolve("store").toString();
    ok("push", build("one"), far, "--version", "v1");
    CommandRun first = ok("pull", far, store, "--json", "--verify");
    assertThat(first.out()).contains("\"version\":\"v1\"", "\"reusedFiles\":0");
    assertThat(bsdb("get", "-d", store + "/v1", "changed").out()).isEqualTo("one\n");
    try (Database database = Database.open(Path.of(store, "v1"))) {
      for (int i = 0; i < RECORDS; i++) {
        assertThat(database.get(("key-" + i).getBytes(UTF_8))).asString().isEqualTo("value-" + i);
      }
    }
    assertThat(ok("pull", far, store).err()).contains("nothing to pull: version v1");

    ok("push", build("two"), far, "--version", "v2");
    org.apache.hadoop.fs.Path two = new org.apache.hadoop.fs.Path(far, "v2");
    String shard = changedShard(store, folder.resolve("two"));
    org.apache.hadoop.fs.Path data =
        hdfs.fileSystem()
            .globStatus(new org.apache.hadoop.fs.Path(two, shard + "/data*"))[0]
            .getPath();
    byte[] whole = read(data);
    byte[] damaged = whole.clone();
    damaged[4096 * 3 + 17] ^= 4;
    hdfs.write(data.toUri().getPath(), damaged);
    CommandRun refused = bsdb("pull", far, store, "--attempts", "2");
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err())
        .contains("bsdb pull: " + data + ": gave up after 2 attempts: damaged at byte 12288")
        .doesNotContain("at tech.bsdb");
    hdfs.write(data.toUri().getPath(), Arrays.copyOf(whole, 4096 * 2));
    refused = bsdb("pull", far, store, "--attempts", "2");
    assertThat(refused.err()).contains(data + ": gave up after 2 attempts: ");
    assertThat(Files.readString(Path.of(store, "CURRENT"))).startsWith("v1");
    assertThat(bsdb("versions", store).out()).isEqualTo("v1\tcurrent\n");

    hdfs.write(data.toUri().getPath(), whole);
    CommandRun second = ok("pull", far, store, "--json", "--keep", "0");
    assertThat(bytesIn(second.out(), "resumedBytes")).isPositive();
    assertThat(bytesIn(second.out(), "reusedBytes"))
        .isGreaterThan(3 * bytesIn(second.out(), "bytes"));
    assertThat(bsdb("get", "-d", store + "/v2", "changed").out()).isEqualTo("two\n");
    assertThat(Path.of(store, ".pulling")).doesNotExist();

    String part = folder.resolve("part").toString();
    ok("pull", far, part, "--shards", "0-1,5", "-q");
    assertThat(ok("stat", "-d", part + "/v2", "--json").out()).contains("\"heldShards\":\"0-1,5\"");
    assertThat(bsdb("pull", far, part, "--shards", "6"))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(
            run -> assertThat(run.err()).contains("/v2 has 6 shards, from 0, but not shard 6"));
  }

  @Test
  void aStoreFollowsHdfs() throws Exception {
    String far = hdfs.uri() + "/stores/" + folder.getFileName();
    Path store = folder.resolve("store");
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    Console console = new Console(new ByteArrayInputStream(new byte[0]), said, said, false);
    FollowOptions options =
        new FollowOptions(
            far,
            FileSourceOptions.local(),
            store,
            Duration.ofHours(1),
            TransferOptions.defaults(),
            new Checks(0, 5, 1000, -1, false, null, Encoding.UTF8, Checks.Counting.IF_NEEDED),
            1);
    ok("push", build("one"), far, "--version", "v1");
    Semaphore pulled = new Semaphore(0);
    try (Follower follower = new Follower(options, console)) {
      assertThat(follower.first()).isTrue();
      assertThat(bsdb("get", "-d", store + "/v1", "changed").out()).isEqualTo("one\n");
      follower.start(pulled::release);
      ok("push", build("two"), far, "--version", "v2");
      follower.lookNow();
      pulled.acquire();
      assertThat(Files.readString(store.resolve("CURRENT"))).startsWith("v2");
      assertThat(bsdb("get", "-d", store + "/v2", "changed").out()).isEqualTo("two\n");
      assertThat(follower.status().figures()).containsEntry("allFailures", 0L);
    }
    assertThat(said.toString(UTF_8)).contains("bsdb serve: pulled v1 in " + store);
  }

  /** The name of the shard that only the second set has. */
  private static String changedShard(String store, Path second) throws IOException {
    try (Stream<Path> shards = Files.list(second)) {
      return shards
          .map(shard -> shard.getFileName().toString())
          .filter(name -> name.startsWith("shard-"))
          .filter(name -> !Files.exists(Path.of(store, "v1", name)))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void whatCannotBePulledIsNamed() throws Exception {
    String store = folder.resolve("store").toString();
    String nothing = hdfs.uri() + "/stores/nothing";
    assertThat(bsdb("pull", nothing, store))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(
            run ->
                assertThat(run.err())
                    .contains(
                        nothing
                            + ": is neither a store nor a database: it has no CURRENT and no"
                            + " manifest.bsdb"));
    String one = build("one");
    assertThat(bsdb("pull", one, store, "--shards", "3-1").err())
        .contains("--shards takes numbers and ranges of shards");
    assertThat(bsdb("pull", one).err()).contains("pull takes a source and a store");
    assertThat(bsdb("pull", one, store, "--min-records", "100000"))
        .satisfies(run -> assertThat(run.code()).isEqualTo(2))
        .satisfies(run -> assertThat(run.err()).contains("fewer than the 100000"));
    assertThat(Path.of(store)).doesNotExist();
    assertThat(ok("pull", "file://" + one, store, "--version", "mine", "-q").out())
        .isEqualTo("mine\n");
    assertThat(bsdb("get", "-d", store + "/mine", "changed").out()).isEqualTo("one\n");
    assertThat(bsdb("pull", "--help").out()).contains("hdfs://", "--keytab", "--shards");
  }
}
