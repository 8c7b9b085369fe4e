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
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.inspect.KeyOptions;
import tech.bsdb.tools.publish.FollowOptions;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.ServeOptions;
import tech.bsdb.tools.serve.Service;
import tech.bsdb.tools.serve.ValueKind;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials.TlsFiles;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ClusterOptions;
import tech.bsdb.tools.serve.dataset.DataSetLocations;
import tech.bsdb.tools.serve.telemetry.Telemetry;

/** {@code bsdb serve}: serves a database or a store over HTTP. */
public final class HttpServer extends Command {
  private static final int CORES = Runtime.getRuntime().availableProcessors();

  /** Whether Netty has JFR events of its buffers. */
  private static final String NETTY_EVENTS = "io.netty.jfr.enabled";

  /** For the service loader. */
  public HttpServer() {
    super("serve", "serve a database or a store over HTTP");
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
    Telemetry telemetry = Telemetry.ofClassPath(text -> console.say("bsdb serve: " + text));
    Follower follower = following == null ? null : new Follower(following, console);
    Runtime.getRuntime()
        .addShutdownHook(new Thread(() -> end(serving, follower, console), "bsdb-drain"));
    if (follower != null && !follower.first()) {
      return awaitExit();
    }
    Service service = new Service(options, console, follower, telemetry);
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
    DataSetLocations data = DataSetLocations.of(arguments);
    Preload preload = arguments.choice("--preload", Preload.class, Preload.NONE);
    if (preload != Preload.NONE && !data.areAllHere() && !arguments.has("--cache")) {
      throw new UsageException(
          "--preload brings data sets elsewhere to pages on disk; allow some, for example with"
              + " --cache 10g, or leave it out");
    }
    if (data.areAllElsewhere()) {
      arguments.refuse(
          List.of("-ic", "-id", "-kd", "--engine"),
          "is for a data set here; elsewhere there is one way to read");
    }
    return new ServeOptions(
        data,
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
        preload,
        Duration.ofSeconds(arguments.number("--poll", 1, 10, 1)),
        Duration.ofSeconds(arguments.number("--poll", 1, 10, 10)),
        arguments.path("--token-file").orElse(null),
        tls(arguments),
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
            .withIndexInMemory(arguments.has("-ic"))
            .withTrusted(KeyOptions.trusted(arguments));
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

  private static @Nullable TlsFiles tls(Arguments arguments) throws UsageException {
    Optional<Path> certificate = arguments.path("--tls-cert");
    Optional<Path> key = arguments.path("--tls-key");
    Optional<Path> authorities = arguments.path("--tls-client-ca");
    if (certificate.isPresent() != key.isPresent()) {
      throw new UsageException("--tls-cert and --tls-key go together");
    }
    if (authorities.isEmpty()) {
      arguments.refuse(
          List.of("--tls-client-optional"),
          "is about certificates of clients; add --tls-client-ca");
    }
    if (arguments.has("--tls-client-optional") && !arguments.has("--token-file")) {
      throw new UsageException(
          "--tls-client-optional would let everybody in; add --token-file, for clients without a"
              + " certificate");
    }
    if (certificate.isEmpty()) {
      arguments.refuse(List.of("--tls-client-ca"), "needs TLS; add --tls-cert and --tls-key");
      return null;
    }
    return new TlsFiles(
        certificate.get(),
        key.orElseThrow(),
        authorities.orElse(null),
        arguments.has("--tls-client-optional"));
  }
}
