package tech.bsdb.tools.serve.telemetry;

/**
 * What many requests have in common, for spans and metrics.
 *
 * @param template the path, with a placeholder for each key and name; empty if nothing is there
 * @param dataset the data set; empty for the only one of a service without names, and for pages
 */
public record Route(String template, String dataset) {
  /** Nothing is there. */
  public static final Route NOWHERE = new Route("", "");

  /** Returns the route of a page. */
  public static Route page(String path) {
    return new Route(path, "");
  }

  /** Returns the route of batches and ranges in a data set, below the prefix of all keys. */
  public static Route keys(String prefix, String dataset) {
    return new Route(dataset.isEmpty() ? prefix : prefix + "{dataset}/", dataset);
  }

  /** Returns the route of single keys below this one. */
  public Route oneKey() {
    return new Route(template + "{key}", dataset);
  }
}
