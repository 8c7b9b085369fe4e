package tech.bsdb.tools;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.OpenOptions;
import tech.bsdb.OpenOptions.Engine;
import tech.bsdb.store.Preload;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.publish.FollowOptions;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.ServeOptions;
import tech.bsdb.tools.serve.Service;
import tech.bsdb.tools.serve.ValueKind;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.dataset.DataSetOption;

/** {@code bsdb serve}: serves a database or a store over HTTP. */
public final class HttpServer extends Command {
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  /** Whether Netty has JFR events of its buffers. */
  private static final String NETTY_EVENTS = "io.netty.jfr.enabled";

  private static final Syntax SYNTAX =
      FollowOptions.declare(syntax())
          .example("a database", "bsdb serve -d ./rdb")
          .example("a lookup", "curl http://localhost:9999/bsdb/apple")
          .example(
              "a store, preloaded, with the administration port",
              "bsdb serve -d ./store --preload all --admin-port 9998")
          .example(
              "the versions of a store on HDFS, as they come, keeping one older version",
              "bsdb serve -d ./store --follow hdfs://namenode:8020/stores/users --keep 1")
          .example(
              "several data sets, then a lookup",
              "bsdb serve -d users=./store/users -d items=./rdb")
          .example("of one of them", "curl http://localhost:9999/bsdb/users/42")
          .example("Redis clients, too", "bsdb serve -d ./rdb --resp 6379")
          .example("a lookup by a Redis client", "redis-cli -p 6379 GET apple")
          .example(
              "a node of a cluster, for the cluster mode of Redis clients",
              "bsdb serve -d ./store --resp 6379 --cluster topology.json --node a")
          .example("more data than memory", "bsdb serve -d ./rdb -ic -kd -async");

  private static Syntax syntax() {
    return new Syntax(
            "serve",
            "",
            "Serves a database or a store over HTTP: GET {prefix}{key} returns the value's bytes,"
                + " or 404; with --resp also to Redis clients. Given a store, it follows the current version: a new version is"
                + " opened beside the old one, so no request is lost. SIGHUP reloads the"
                + " certificate, key and tokens, reopens the access log, and adds and removes the"
                + " data sets of a folder. SIGTERM finishes the"
                + " requests in flight and exits.")
        .section("What is served")
        .values(
            "-d",
            "[NAME=]DIR",
            "a database, or a store that bsdb publish made (default ./rdb). Several, each with a"
                + " name: -d users=DIR -d items=DIR; or a folder of stores, named like their"
                + " directories: keys are then below {prefix}{name}/, and SELECT takes a name or"
                + " number")
        .value("-P", "PREFIX", "path prefix of a key (default /bsdb/)")
        .flag("-a", "require an approximate database")
        .flag(
            "-json",
            "values are JSON or typed rows: return them as JSON; ?fields=a,b selects fields of an"
                + " object")
        .flag(
            "--json-safe-integers",
            "with -json and typed rows: write numbers that a double cannot hold exactly as"
                + " strings")
        .value(
            "--preload",
            "WHAT",
            "what to read into memory before a version serves, in huge pages like bsdb warm: none"
                + " (default), index or all")
        .value(
            "--poll", "SECONDS", "how often to check which version is current, 1 to 10 (default 1)")
        .section("Reading")
        .flag("-async", "lookups do not block a thread: for data that is not entirely in memory")
        .flag("-ic", "load the index into memory at startup")
        .flag(
            "-id",
            "read the index bypassing the page cache (O_DIRECT); with -async, through io_uring"
                + " where it is available")
        .flag("-kd", "read the data files bypassing the page cache, likewise")
        .value(
            "--engine",
            "NAME",
            "how to read the index and the data: auto (default), mapped, buffered, direct,"
                + " io_uring, or memory, which reads all files into memory at startup; -id and"
                + " -kd take precedence")
        .section("Listening")
        .value("-A", "ADDRESS", "the address to listen on (default 0.0.0.0)")
        .value("-p", "PORT", "the port, 0 for any free one (default 9999)")
        .value("-t", "N", "event loops, 1 to 1,024 (default: the number of cores)")
        .value("--resp", "PORT", "serve Redis clients on this port (RESP), 0 for any free one")
        .flag("--no-http", "serve Redis clients only; the administration port has the figures")
        .value(
            "--admin-port",
            "PORT",
            "administration on 127.0.0.1 only: POST /reload, /drain, /resume (default: none)")
        .value("--tls-cert", "FILE", "serve HTTPS with this PEM certificate chain")
        .value("--tls-key", "FILE", "and this PEM private key (PKCS#8, no password)")
        .value(
            "--token-file",
            "FILE",
            "answer only requests with one of these bearer tokens, one per line; probes need"
                + " none")
        .value("--access-log", "FILE", "write a line for each request to FILE, or - for stdout")
        .section("Cluster")
        .value(
            "--cluster",
            "FILE",
            "the nodes of a cluster and the slots of each, as JSON. Keys of other nodes are"
                + " answered MOVED to Redis clients, and 421 over HTTP. Another version of the"
                + " file takes effect within seconds")
        .value("--node", "NAME", "which of these nodes this is (default: the host's name)")
        .value(
            "--handover",
            "SECONDS",
            "how long slots that have moved to another node are still answered, 0 to 3,600"
                + " (default 5, or twice --poll)")
        .section("Limits")
        .value(
            "--max-connections",
            "N",
            "open connections; beyond that the answer is 503 (default 20,000, or what ulimit -n"
                + " allows)")
        .value(
            "--max-in-flight",
            "N",
            "concurrent lookups, 1 to 16,000; beyond that the answer is 503 (default 4,096)")
        .value("--max-body", "BYTES", "largest request body, up to 1 GiB (default 16 MiB)")
        .value("--max-batch", "N", "most keys in a batch, up to 10,000,000 (default 100,000)")
        .value(
            "--max-held",
            "BYTES",
            "total memory held for clients: received bodies, values (reserved before they are"
                + " read), and answers not taken yet; beyond that the answer is 503 (default: a"
                + " quarter of the heap)")
        .value(
            "--max-held-client",
            "BYTES",
            "the share of that for one client address (default: a quarter of --max-held; behind a"
                + " proxy, set it to --max-held)")
        .value(
            "--request-timeout",
            "SECONDS",
            "time for a request to arrive, and for a client to take an answer, 1 to 3,600"
                + " (default 30)")
        .value(
            "--idle-timeout",
            "SECONDS",
            "time that a connection may stay open without a request, 1 to 86,400 (default 600)")
        .value(
            "--drain-timeout",
            "SECONDS",
            "time for requests in flight to finish at shutdown, 0 to 60 (default 8)");
  }

  /** For the service loader. */
  public HttpServer() {
    super(SYNTAX, "serve a database or a store over HTTP");
  }

  /** Runs {@code bsdb serve} and exits with its code. */
  public static void main(String[] args) {
    Main.main("serve", args);
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    if (System.getProperty(NETTY_EVENTS) == null) {
      System.setProperty(NETTY_EVENTS, "false"); // they load JFR, which takes long
    }
    CompletableFuture<Service> serving = new CompletableFuture<>();
    String uncaught = "";
    try { // before any slow step
      HangUp.onSignal(() -> serving.join().reloadFiles());
    } catch (UnsupportedOperationException e) {
      uncaught = "bsdb serve: SIGHUP reloads nothing: " + e.getMessage();
    }
    ServeOptions options = options(arguments);
    Path single = options.data().directory();
    FollowOptions following =
        FollowOptions.of(arguments, single == null ? Path.of("") : single); // needs a single one
    if (options.cluster() != null) {
      Cluster.check(options.cluster()); // before a first version is pulled
    }
    Follower follower = following == null ? null : new Follower(following, console);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> end(serving, follower, console), "bsdb-drain"));
    if (follower != null && !follower.first()) {
      return awaitExit();
    }
    Service service = new Service(options, console, follower);
    serving.complete(service);
    if (!uncaught.isEmpty()) {
      console.say(uncaught);
    }
    console.say("bsdb serve: serving " + service.description());
    return awaitExit();
  }

  /** Waits until a signal ends the process. */
  private static int awaitExit() throws InterruptedException {
    new CountDownLatch(1).await();
    return OK;
  }

  private static void end(
      CompletableFuture<Service> serving, @Nullable Follower follower, Console console) {
    Service service = serving.getNow(null);
    if (service != null) {
      console.say("bsdb serve: draining");
      service.close();
      console.say("bsdb serve: ended");
    } else if (follower != null) {
      follower.close();
    }
  }

  static ServeOptions options(Arguments arguments) throws UsageException, IOException {
    return new ServeOptions(
        DataSetOption.of(arguments),
        arguments.text("-A", "0.0.0.0"),
        arguments.integer("-p", 0, 65_535, 9999),
        http(arguments),
        arguments.integer("--resp", 0, 65_535, -1),
        arguments.integer("--admin-port", 0, 65_535, -1),
        prefix(arguments.text("-P", "/bsdb/")),
        arguments.integer("-t", 1, 1024, CORES),
        arguments.has("-a"),
        open(arguments),
        arguments.has("-async"),
        values(arguments),
        arguments.choice("--preload", Preload.class, Preload.NONE),
        Duration.ofSeconds(arguments.number("--poll", 1, 10, 1)),
        arguments.path("--token-file").orElse(null),
        tls(arguments.path("--tls-cert"), arguments.path("--tls-key")),
        arguments.path("--access-log").map(Path::toString).orElse(null),
        limits(arguments),
        cluster(arguments));
  }

  private static @Nullable ClusterOptions cluster(Arguments arguments) throws UsageException {
    Optional<Path> file = arguments.path("--cluster");
    if (file.isEmpty()) {
      arguments.refuse(
          List.of("--node", "--handover"), "is for a node of a cluster; add --cluster FILE");
      return null;
    }
    long poll = arguments.number("--poll", 1, 10, 1);
    return new ClusterOptions(
        file.get(),
        arguments.has("--node") ? arguments.text("--node", "") : hostName(),
        Duration.ofSeconds(arguments.number("--handover", 0, 3600, Math.max(5, 2 * poll))));
  }

  private static String hostName() throws UsageException {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException notLinux) {
      // asked for below
    }
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      throw new UsageException("the host's name is unknown; say which node this is with --node");
    }
  }

  /** Whether HTTP is served, too. */
  private static boolean http(Arguments arguments) throws UsageException {
    if (!arguments.has("--no-http")) {
      return true;
    }
    if (!arguments.has("--resp")) {
      throw new UsageException("--no-http leaves nothing to listen on; add --resp PORT");
    }
    arguments.refuseTogether("--no-http", "-p", "it is the port of HTTP");
    arguments.refuseTogether("--no-http", "-P", "it is the path of keys in HTTP");
    return false;
  }

  private static ValueKind values(Arguments arguments) throws UsageException {
    if (!arguments.has("-json")) {
      arguments.refuse(List.of("--json-safe-integers"), "is for values as JSON; add -json");
      return ValueKind.BYTES;
    }
    return arguments.has("--json-safe-integers") ? ValueKind.SAFE_JSON : ValueKind.JSON;
  }

  private static Limits limits(Arguments arguments) throws UsageException {
    long held =
        arguments.number("--max-held", 1, Long.MAX_VALUE / 4, Runtime.getRuntime().maxMemory() / 4);
    long ofClient =
        arguments.number("--max-held-client", 1, Long.MAX_VALUE / 4, Math.max(1, held / 4));
    return new Limits(
        arguments.integer("--max-connections", 1, 10_000_000, defaultConnections()),
        arguments.integer("--max-in-flight", 1, 16_000, 4_096),
        arguments.integer("--max-body", 1, 1 << 30, 16 << 20),
        arguments.integer("--max-batch", 1, 10_000_000, 100_000),
        held,
        ofClient,
        Duration.ofSeconds(arguments.number("--request-timeout", 1, 3600, 30)),
        Duration.ofSeconds(arguments.number("--idle-timeout", 1, 86_400, 600)),
        Duration.ofSeconds(arguments.number("--drain-timeout", 0, 60, 8)));
  }

  /**
   * The process's limit on open files less 300 for other uses, from 16 to 20,000; 20,000 if it is
   * unknown.
   */
  private static int defaultConnections() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
        if (line.startsWith("Max open files")) {
          String soft = line.substring(26).strip().split(" ", 2)[0];
          long most = soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft);
          return (int) Math.max(16, Math.min(20_000, most - 300));
        }
      }
    } catch (IOException | NumberFormatException notLinux) {
      return 20_000;
    }
    return 20_000;
  }

  private static OpenOptions open(Arguments arguments) throws UsageException {
    arguments.refuseTogether("-ic", "-id", DatabaseOption.ONE_INDEX);
    boolean ring = arguments.has("-async") && Database.unavailable(Engine.IO_URING, null) == null;
    Engine direct = ring ? Engine.IO_URING : Engine.DIRECT;
    OpenOptions open =
        OpenOptions.defaults()
            .withEngine(arguments.choice("--engine", Engine.class, Engine.AUTO))
            .withIndexInMemory(arguments.has("-ic"));
    if (arguments.has("-id")) {
      open = open.withIndexEngine(direct);
    }
    return arguments.has("-kd") ? open.withDataEngine(direct) : open;
  }

  /** Adds a missing slash at either end. */
  private static String prefix(String given) throws UsageException {
    String begun = given.startsWith("/") ? given : "/" + given;
    String prefix = begun.endsWith("/") ? begun : begun + "/";
    if (!prefix.matches("[A-Za-z0-9/._~:@!$&'()*+,;=-]+") || prefix.contains("//")) {
      throw new UsageException(
          "-P takes a path of letters, digits and -._~, such as /bsdb/, not \"" + given + "\"");
    }
    if (prefix.equals("/")) {
      throw new UsageException("-P cannot be /: the page and the probes are at the root");
    }
    return prefix;
  }

  private static @Nullable TlsFiles tls(Optional<Path> certificate, Optional<Path> key)
      throws UsageException {
    if (certificate.isPresent() != key.isPresent()) {
      throw new UsageException("--tls-cert and --tls-key go together");
    }
    return certificate.isEmpty() ? null : new TlsFiles(certificate.get(), key.orElseThrow());
  }
}
