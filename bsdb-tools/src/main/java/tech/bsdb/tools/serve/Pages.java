package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.TextResource;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Scope;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.serve.dataset.DataSets;
import tech.bsdb.tools.serve.telemetry.Route;

/** The resources at the root: the page, probes, metrics, figures and the API description. */
final class Pages {
  private static final Set<String> PATHS =
      Set.of("/", "/healthz", "/readyz", "/metrics", "/stats", "/history", "/openapi.yaml");
  private static final String DATA_SET_PARAMETER =
      "    parameters:\n"
          + "      - {name: dataset, in: path, required: true, description: The data set's name.,"
          + " schema: {type: string}}\n";
  private static final String NO_STORE = "cache-control: no-store\r\n";

  private final DataSets sets;
  private final Connections connections;
  private final Requests requests;
  private final ServerStatistics figures;
  private final History history;
  private final Executor workers;

  /** The page, which is made when it is first asked for. */
  private static final class Html {
    static final Reply PAGE = page(TextResource.text(Pages.class, "page.html"));

    private static Reply page(String html) {
      return new Reply(
          200,
          MediaType.HTML,
          NO_STORE
              + "x-content-type-options: nosniff\r\nreferrer-policy: no-referrer\r\n"
              + "content-security-policy: "
              + contentSecurityPolicy(html)
              + "\r\n",
          html.getBytes(UTF_8));
    }
  }

  /**
   * Pages of a server.
   *
   * @param version names the version being served
   * @param workers renders pages that take longer
   */
  Pages(ServerStatistics figures, Supplier<String> version, Executor workers) {
    this.sets = figures.sets();
    this.connections = figures.connections();
    this.requests = figures.requests();
    this.figures = figures;
    this.history = new History(requests, sets, version);
    this.workers = workers;
  }

  /** Advances what is shown of the last seconds and of the last hour; called once a second. */
  void tick() {
    requests.latencies().tick();
    history.tick();
  }

  /** Returns a policy that allows only a page's own script and style. */
  private static String contentSecurityPolicy(String page) {
    return "default-src 'none'; script-src "
        + hash(page, "<script>", "</script>")
        + "; style-src "
        + hash(page, "<style>", "</style>")
        + "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
        + " frame-ancestors 'none'";
  }

  private static String hash(String page, String begin, String end) {
    int from = page.indexOf(begin) + begin.length();
    String element = page.substring(from, page.indexOf(end, from));
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(element.getBytes(UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Returns the description of the paths of this service. */
  private String openApi() {
    String yaml = TextResource.text(Pages.class, "openapi.yaml");
    if (sets.areNamed()) {
      yaml =
          yaml.replace(
                  "\n  /bsdb/{key}:\n    parameters:\n",
                  "\n  /bsdb/{dataset}/{key}:\n" + DATA_SET_PARAMETER)
              .replace("\n  /bsdb/:\n", "\n  /bsdb/{dataset}/:\n" + DATA_SET_PARAMETER);
    }
    return yaml.replace("/bsdb/", figures.options().prefix());
  }

  /** Whether a path is a probe, which needs no token. */
  static boolean isProbe(String path) {
    return path.equals("/healthz") || path.equals("/readyz");
  }

  /** Whether there is a page at a path. */
  boolean has(String path) {
    return PATHS.contains(path);
  }

  /**
   * Returns the action that answers with a page.
   *
   * @throws RequestRefusedException if the page does not accept the query
   */
  Action page(RequestTarget target, Exchange asked, HttpHeaders headers)
      throws RequestRefusedException {
    asked.route = Route.page(target.path());
    if (!asked.method.equals("GET") && !asked.isHead()) {
      return asked.refuseMethod("GET, HEAD");
    }
    return switch (target.path()) {
      case "/" -> onWorker(() -> Html.PAGE);
      case "/healthz" -> exchange -> exchange.complete(json(200, Map.of("status", "ok")));
      case "/readyz" -> exchange -> exchange.complete(ready(exchange.scope));
      case "/openapi.yaml" -> onWorker(() -> Reply.text(200, MediaType.YAML, openApi()));
      case "/metrics" -> {
        String accept = headers.get(HttpHeaderNames.ACCEPT);
        yield onWorker(() -> new Metrics(figures).page(accept));
      }
      case "/history" -> {
        Instant since = since(target);
        yield onWorker(() -> json(200, history.after(since)));
      }
      default -> {
        DataSet shown = dataSet(target);
        yield onWorker(() -> json(200, figures.now(shown)));
      }
    };
  }

  /** Returns the data set that a query names; the first if it names none. */
  private DataSet dataSet(RequestTarget target) throws RequestRefusedException {
    String name = target.parameter("dataset");
    DataSet set = name == null ? sets.first() : sets.named(name);
    if (set == null) {
      throw new RequestRefusedException(
          404,
          sets.areNamed()
              ? "no data set has this name; the data sets are: " + sets.names()
              : "this server serves a single data set, which has no name");
    }
    return set;
  }

  private static @Nullable Instant since(RequestTarget target) throws RequestRefusedException {
    String since = target.parameter("since");
    if (since == null) {
      return null;
    }
    try {
      return Instant.parse(since);
    } catch (DateTimeParseException e) {
      throw new RequestRefusedException("since must be a time such as 2026-11-22T09:00:00Z");
    }
  }

  /** Runs on a worker an answer that takes longer or reads files. */
  private Action onWorker(Callable<Reply> source) {
    return on(workers, source, "the figures could not be collected");
  }

  /**
   * Returns an action that makes a reply on another thread.
   *
   * @param failed what the client is told after an unexpected failure, which is reported
   */
  Action on(Executor threads, Callable<Reply> source, String failed) {
    return exchange ->
        threads.execute(
            () -> {
              Reply reply;
              try {
                reply = source.call();
              } catch (DataSetRemovedException e) {
                reply = Reply.removed(e);
              } catch (Exception | Error e) {
                requests.failed(exchange, e);
                reply = Reply.error(500, failed);
              }
              exchange.complete(reply);
            });
  }

  /** Says what is served, of named data sets those that the client may read. */
  private Reply ready(Scope scope) {
    Map<String, @Nullable Object> said = new LinkedHashMap<>();
    boolean draining = connections.draining();
    said.put("status", draining ? "draining" : "ready");
    if (sets.areNamed()) {
      Map<String, @Nullable Object> each = new LinkedHashMap<>();
      sets.all().stream()
          .filter(set -> scope.reaches(set.name()))
          .forEach(set -> each.put(set.name(), served(set)));
      said.put("datasets", each);
    } else {
      said.putAll(served(sets.first()));
    }
    return json(draining ? 503 : 200, said);
  }

  private static Map<String, @Nullable Object> served(DataSet set) {
    Map<String, @Nullable Object> said = new LinkedHashMap<>();
    try (Lease lease = set.acquire()) {
      said.put("version", lease.version());
    } catch (DataSetRemovedException e) {
      said.put("version", null);
    }
    Object refused = ServerStatistics.refused(set);
    if (refused != null) {
      said.put("refused", refused);
    }
    return said;
  }

  static Reply json(int status, Map<String, ? extends @Nullable Object> report) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      JsonReport.write(bytes, report);
    } catch (IOException e) {
      throw new IllegalStateException("memory can be written", e);
    }
    return new Reply(status, MediaType.JSON, NO_STORE, bytes.toByteArray());
  }
}
