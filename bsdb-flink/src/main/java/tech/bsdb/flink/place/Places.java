package tech.bsdb.flink.place;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.HadoopOrigins;

/**
 * Finds the directory of a location: on a local disk; on a file system of Hadoop, if its client is
 * on the class path and knows the scheme; otherwise on a file system of Flink.
 */
public final class Places {
  private static final Pattern SCHEME = Pattern.compile("[a-zA-Z][a-zA-Z0-9+.-]+:/.*");

  private Places() {}

  /** The path of a location on a local disk or a mounted file system; null if it is elsewhere. */
  public static @Nullable Path local(String location) throws IOException {
    boolean elsewhere = SCHEME.matcher(location).matches() && !location.startsWith("file:");
    if (elsewhere) {
      return null;
    }
    try (DistantDirectory directory = DistantDirectory.open(location, FileSourceOptions.local())) {
      return directory.local();
    }
  }

  /**
   * Opens a directory to copy from or to write to, which need not exist.
   *
   * @throws IOException if nothing reads the scheme; the message says what would
   */
  public static DistantDirectory open(String location) throws IOException {
    if (local(location) != null || HadoopOrigins.reads(uri(location))) {
      return DistantDirectory.open(location, FileSourceOptions.local());
    }
    String scheme = String.valueOf(uri(location).getScheme()).toLowerCase(Locale.ROOT);
    if (scheme.equals("http") || scheme.equals("https")) {
      throw new InputException(
          location
              + " is on a web server, which can only be read, in place: 'lookup.read' = 'place'");
    }
    try {
      return FlinkDirectory.of(uri(location));
    } catch (UnsupportedFileSystemSchemeException e) {
      throw new InputException(
          ("%s: neither Flink nor Hadoop has a file system for %s here; add the plugin of Flink"
                  + " (plugins/s3-fs-presto, for example), or Hadoop's client to the class path (%s)")
              .formatted(location, scheme, e.getMessage()));
    }
  }

  private static URI uri(String location) throws InputException {
    try {
      return new URI(location);
    } catch (URISyntaxException e) {
      throw new InputException(location + ": is not a location: " + e.getMessage());
    }
  }
}
