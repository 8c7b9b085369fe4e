package tech.bsdb.mirror;

import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import java.util.ServiceLoader;
import tech.bsdb.remote.HttpOrigin;
import tech.bsdb.remote.OriginProvider;
import tech.bsdb.remote.RangeOrigin;

/** Opens locations by their schemes. */
public final class Origins {
  private Origins() {}

  /**
   * Opens a location.
   *
   * @throws IllegalArgumentException if nothing here reads its scheme
   */
  public static RangeOrigin of(URI location) throws IOException {
    String scheme = location.getScheme();
    if (scheme == null) {
      throw new IllegalArgumentException(
          location + ": not a location, since it has no scheme such as https://");
    }
    String lower = scheme.toLowerCase(Locale.ROOT);
    if (lower.equals("http") || lower.equals("https")) {
      return HttpOrigin.of(location);
    }
    for (OriginProvider provider : ServiceLoader.load(OriginProvider.class)) {
      RangeOrigin origin = provider.open(location);
      if (origin != null) {
        return origin;
      }
    }
    throw new IllegalArgumentException(
        location
            + ": nothing here reads the scheme "
            + lower
            + "; file, http and https are always read, and hdfs, s3a, abfs and gs with bsdb-tools"
            + " and the jars of Hadoop on the class path");
  }
}
