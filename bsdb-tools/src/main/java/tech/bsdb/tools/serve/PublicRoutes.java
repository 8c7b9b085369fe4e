package tech.bsdb.tools.serve;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.Scope.Permission;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;

/**
 * The public routes: pages at the root, and keys below the prefix, or below the prefix and the name
 * of a data set.
 */
final class PublicRoutes implements Routes {
  private final String prefix;
  private final DataSets sets;
  private final Pages pages;
  private final BiFunction<DataSet, String, KeyRoutes> maker;
  private final ConcurrentHashMap<DataSet, KeyRoutes> known = new ConcurrentHashMap<>();
  private final @Nullable KeyRoutes only;

  /**
   * Routes for a service.
   *
   * @param prefix with a slash at both ends
   * @param maker makes the routes of a data set's keys, whose paths begin with the given text
   */
  PublicRoutes(
      String prefix, DataSets sets, Pages pages, BiFunction<DataSet, String, KeyRoutes> maker) {
    this.prefix = prefix;
    this.sets = sets;
    this.pages = pages;
    this.maker = maker;
    this.only = sets.areNamed() ? null : maker.apply(sets.first(), prefix);
  }

  /** Returns what the paths of a data set's keys begin with. */
  static String keyPrefix(String prefix, DataSets sets, String name) {
    return sets.areNamed() ? prefix + name + "/" : prefix;
  }

  @Override
  public boolean open(RequestTarget target) {
    return Pages.isProbe(target.path());
  }

  @Override
  public Action action(RequestTarget target, Exchange exchange, HttpHeaders headers)
      throws RequestRefusedException {
    String path = target.path();
    if (pages.has(path)) {
      if (!open(target)) {
        exchange.require(Permission.METRICS);
      }
      return pages.page(target, exchange, headers);
    }
    if (!path.startsWith(prefix)) {
      String where = only == null ? prefix + "NAME/" : prefix;
      throw new RequestRefusedException(404, "nothing here; keys are below " + where);
    }
    if (only != null) {
      exchange.requireSet("");
    }
    KeyRoutes routes = only == null ? named(path, exchange) : only;
    return routes.action(target, exchange, headers);
  }

  private KeyRoutes named(String path, Exchange exchange) throws RequestRefusedException {
    int end = path.indexOf('/', prefix.length());
    String name = end < 0 ? path.substring(prefix.length()) : path.substring(prefix.length(), end);
    exchange.requireSet(name); // before it says whether there is one
    DataSet set = sets.named(name);
    if (set == null) {
      throw new RequestRefusedException(
          404,
          "no data set has this name; the data sets are: " + sets.names(exchange.scope::reaches));
    }
    if (end < 0) {
      throw new RequestRefusedException(
          404, "nothing here; keys of " + name + " are below " + path + "/");
    }
    KeyRoutes routes = known.get(set);
    if (routes == null) {
      known.keySet().retainAll(sets.all()); // drops those of data sets that were removed
      routes = known.computeIfAbsent(set, of -> maker.apply(of, keyPrefix(prefix, sets, name)));
    }
    return routes;
  }
}
