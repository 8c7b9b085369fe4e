package tech.bsdb.tools.source;

import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.OriginProvider;
import tech.bsdb.remote.RangeOrigin;

/**
 * Opens locations on Hadoop's file systems, such as {@code s3a://bucket/rdb}, with the
 * configuration of {@code HADOOP_CONF_DIR} or the class path. Hadoop's client must be on the class
 * path.
 */
public final class HadoopOrigins implements OriginProvider {
  /** Those of others, and of local files. */
  private static final Set<String> OTHERS = Set.of("http", "https", "file", "jar");

  /** For the service loader. */
  public HadoopOrigins() {}

  @Override
  public @Nullable RangeOrigin open(URI location) throws IOException {
    String scheme = location.getScheme();
    return scheme == null || OTHERS.contains(scheme.toLowerCase(Locale.ROOT))
        ? null
        : RangeDirectory.open(location.toString(), FileSourceOptions.local());
  }
}
