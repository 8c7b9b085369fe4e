package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.OpenOptions;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Preload;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.publish.Checks;
import tech.bsdb.tools.publish.FollowOptions;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.telemetry.Telemetry;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** A service in this process, on a free port, with options that a test may change. */
final class Serving implements AutoCloseable {
  Path directory;
  @Nullable DataSetLocations data;
  boolean async;
  boolean resp;
  boolean json;
  boolean safeIntegers;
  OpenOptions open = OpenOptions.defaults();
  Preload preload = Preload.NONE;
  int connections = 1000;
  int inFlight = 1000;
  int bodyBytes = 1 << 20;
  int batchKeys = 100_000;
  long heldBytes = 1 << 30;
  long clientBytes = 1 << 30;
  Duration pollElsewhere = Duration.ofMillis(20);
  Duration request = Duration.ofMinutes(1);
  Duration idle = Duration.ofMinutes(10);
  Duration drain = Duration.ofSeconds(8);
  @Nullable Path tokens;
  @Nullable TlsFiles tls;
  @Nullable String accessLog;
  @Nullable FollowOptions follow;
  @Nullable ClusterOptions cluster;
  Telemetry telemetry = Telemetry.NONE;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private @Nullable Service service;

  Serving(Path directory) {
    this.directory = directory;
  }

  /** Builds a database of texts. */
  static Path build(Path directory, Map<String, String> records) throws IOException {
    return buildBytes(directory, bytes(records));
  }

  /** Builds a set of shards of texts. */
  static Path buildSet(Path directory, int shards, Map<String, String> records) throws IOException {
    return buildBytes(directory, bytes(records), BuildOptions.defaults().withShards(shards));
  }

  /** The first shard of a set to which none of some keys belongs. */
  static Path shardWithout(Path set, String... keys) throws IOException {
    try (Stream<Path> all = Files.list(set)) {
      for (Path shard : all.filter(Files::isDirectory).sorted().toList()) {
        if (ownKeys(shard, List.of(keys)).isEmpty()) {
          return shard;
        }
      }
    }
    throw new AssertionError("every shard of " + set + " has one of " + String.join(", ", keys));
  }

  /** The keys that belong to a shard. */
  static List<String> ownKeys(Path shard, List<String> keys) throws IOException {
    List<String> own = new ArrayList<>();
    try (Database database = Database.open(shard)) {
      for (String key : keys) {
        try {
          database.requireOwn(key.getBytes(UTF_8));
          own.add(key);
        } catch (WrongShardException foreign) {
          // belongs to another shard
        }
      }
    }
    return own;
  }

  private static Map<byte[], byte[]> bytes(Map<String, String> records) {
    Map<byte[], byte[]> bytes = new TreeMap<>(java.util.Arrays::compare);
    records.forEach((key, value) -> bytes.put(key.getBytes(UTF_8), value.getBytes(UTF_8)));
    return bytes;
  }

  static Path buildBytes(Path directory, Map<byte[], byte[]> records) throws IOException {
    return buildBytes(directory, records, BuildOptions.defaults());
  }

  /** Builds a database of texts that stores the order of its keys. */
  static Path buildOrdered(Path directory, Map<String, String> records) throws IOException {
    return buildBytes(directory, bytes(records), BuildOptions.defaults().withOrderedKeys(true));
  }

  static Path buildBytes(Path directory, Map<byte[], byte[]> records, BuildOptions options)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory, options)) {
      for (Map.Entry<byte[], byte[]> record : records.entrySet()) {
        builder.add(record.getKey(), record.getValue());
      }
      builder.finish();
    }
    return directory;
  }

  Serving start() throws IOException {
    Console console = new Console(new ByteArrayInputStream(new byte[0]), said, said, false);
    Follower follower = follow == null ? null : follower(follow, console);
    service =
        new Service(
            new ServeOptions(
                data == null ? DataSetLocations.single(directory) : data,
                "127.0.0.1",
                0,
                true,
                resp ? 0 : -1,
                0,
                "/bsdb/",
                2,
                false,
                open,
                async,
                safeIntegers ? ValueKind.SAFE_JSON : json ? ValueKind.JSON : ValueKind.BYTES,
                preload,
                Duration.ofMillis(20),
                pollElsewhere,
                tokens,
                tls,
                accessLog,
                new Limits(
                    connections,
                    inFlight,
                    bodyBytes,
                    batchKeys,
                    heldBytes,
                    clientBytes,
                    request,
                    idle,
                    drain),
                cluster),
            console,
            follower,
            telemetry);
    return this;
  }

  private static Follower follower(FollowOptions options, Console console) throws IOException {
    Follower follower = new Follower(options, console);
    try {
      if (!follower.first()) {
        throw new IllegalStateException("closed");
      }
    } catch (UsageException e) {
      throw new IOException(e);
    }
    return follower;
  }

  /** Follows a local source, looking at it once an hour, or when it is asked to. */
  Serving following(Path source, double maxShrink) {
    follow =
        new FollowOptions(
            source.toString(),
            FileSourceOptions.local(),
            directory,
            Duration.ofHours(1),
            TransferOptions.defaults().withAttempts(1, Duration.ZERO),
            new Checks(
                0, maxShrink, 1000, -1, false, null, Encoding.UTF8, Checks.Counting.IF_NEEDED),
            1);
    return this;
  }

  private Service service() {
    if (service == null) {
      throw new IllegalStateException("not started");
    }
    return service;
  }

  /** Does what SIGHUP does. */
  void reloadFiles() {
    service().reloadFiles();
  }

  int port() {
    return service().port();
  }

  /** The port for Redis clients. */
  int respPort() {
    return service().respPort();
  }

  Wire connect() throws IOException {
    return Wire.to(port());
  }

  Wire administrate() throws IOException {
    return Wire.to(service().adminPort());
  }

  /** Leaves the processor to others for a moment, while a test waits for something. */
  static void pause() {
    LockSupport.parkNanos(5_000_000);
  }

  /** What is held for clients. */
  HeldMemory memory() {
    return service().memory();
  }

  /** What was said on stderr. */
  String said() {
    return said.toString(UTF_8);
  }

  /** One number of the metrics. */
  double metric(String nameAndLabels) throws IOException {
    try (Wire wire = administrate()) {
      String page = wire.get("/metrics").text();
      for (String line : page.split("\n", -1)) {
        if (line.startsWith(nameAndLabels + " ")) {
          return Double.parseDouble(line.substring(nameAndLabels.length() + 1));
        }
      }
      throw new AssertionError("no " + nameAndLabels + " in\n" + page);
    }
  }

  @Override
  public void close() {
    if (service != null) {
      service.close();
    }
  }

  /** Publishes a version that has its number as the value of k0 to k599; returns the store. */
  static Path publish(Path folder, int version) throws IOException {
    Map<String, String> records = new TreeMap<>();
    for (int i = 0; i < 600; i++) {
      records.put("k" + i, "" + version);
    }
    Path store = folder.resolve("store");
    Path database = build(folder.resolve("v" + version), records);
    publish(database, store, "v" + version);
    return store;
  }

  /** Publishes a database as a version of a store, whatever keys the version before has. */
  static void publish(Path database, Path store, String version) {
    CommandRun run =
        CommandRun.bsdb(
            "publish",
            database.toString(),
            store.toString(),
            "--version",
            version,
            "--allow-key-change");
    assertThat(run.code()).as(run.toString()).isZero();
  }
}
