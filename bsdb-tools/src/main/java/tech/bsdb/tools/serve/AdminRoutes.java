package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.publish.Follower;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;

/**
 * The admin routes: {@code POST /reload}, {@code /drain} and {@code /resume}, {@code /follow} if a
 * source is followed, and the pages.
 *
 * @param cluster null if this server is not a node of one
 * @param follower null if no source is followed
 * @param connections the service's connections, which draining closes
 * @param worker reloads
 */
record AdminRoutes(
    DataSets sets,
    @Nullable Cluster cluster,
    @Nullable Follower follower,
    Connections connections,
    Pages pages,
    Executor worker)
    implements Routes {
  @Override
  public boolean open(RequestTarget target) {
    return true;
  }

  @Override
  public Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException {
    String path = target.path();
    if (headers.contains(HttpHeaderNames.ORIGIN)) {
      throw new RequestRefusedException(
          403, "administration requests from web pages are not accepted");
    }
    if (pages.has(path) && !path.equals("/")) {
      return pages.page(target, exchange, headers);
    }
    Action action =
        switch (path) {
          case "/reload" -> pages.on(worker, this::reload, "the reload failed unexpectedly");
          case "/drain", "/resume" ->
              asked -> {
                connections.drain(path.equals("/drain"));
                String status = connections.draining() ? "draining" : "serving";
                asked.complete(Pages.json(200, Map.of("status", status)));
              };
          case "/follow" -> follower == null ? null : asked -> asked.complete(look(follower));
          default -> null;
        };
    if (action == null) {
      String more = follower == null ? "" : ", /follow";
      throw new RequestRefusedException(
          404, "nothing here; POST to /reload" + more + ", /drain or /resume");
    }
    if (!exchange.method.equals("POST")) {
      return exchange.refuseMethod("POST");
    }
    return action;
  }

  /**
   * Reloads each data set and the cluster's topology, and adds and removes data sets. What fails
   * keeps nothing else back.
   */
  private Reply reload() {
    Map<String, String> failed = new TreeMap<>();
    Map<String, Object> said = new LinkedHashMap<>();
    Map<String, Object> all = new LinkedHashMap<>();
    if (sets.areNamed()) {
      try {
        DataSets.Changes changes = sets.refresh();
        said.put("added", changes.added());
        said.put("removed", changes.removed());
        failed.putAll(changes.failed());
      } catch (IOException e) {
        failed.put("", String.valueOf(e.getMessage()));
      }
      said.put("datasets", all);
    }
    for (DataSet set : sets.all()) {
      try {
        Map<String, Object> reloaded = reload(set);
        if (sets.areNamed()) {
          all.put(set.name(), reloaded);
        } else {
          said.putAll(reloaded);
        }
      } catch (IOException | IllegalStateException e) {
        failed.put(set.name(), String.valueOf(e.getMessage()));
      }
    }
    if (cluster != null) {
      try {
        said.put("cluster", Map.of("changed", cluster.refresh()));
      } catch (IOException e) {
        failed.put("cluster", Diagnosis.of(e).words());
      }
    }
    if (failed.isEmpty()) {
      return Pages.json(200, said);
    }
    String why =
        failed.entrySet().stream()
            .map(each -> (each.getKey().isEmpty() ? "" : each.getKey() + ": ") + each.getValue())
            .collect(Collectors.joining("; "));
    String message =
        (sets.areNamed()
                ? "not everything was reloaded; of the rest, what was in service stays: "
                : "the reload failed, what was current stays in service: ")
            + why;
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("error", Map.of("status", 409, "message", message));
    answer.putAll(said);
    return Pages.json(409, answer);
  }

  private static Reply look(Follower follower) {
    follower.lookNow();
    return Pages.json(202, Map.of("status", "asked"));
  }

  private static Map<String, Object> reload(DataSet set) throws IOException {
    boolean changed = set.database().reload();
    try (Lease lease = set.acquire()) {
      Map<String, Object> said = new LinkedHashMap<>();
      said.put("version", lease.version());
      said.put("changed", changed);
      return said;
    }
  }
}
