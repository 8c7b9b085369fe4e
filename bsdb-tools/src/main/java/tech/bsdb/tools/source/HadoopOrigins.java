package tech.bsdb.tools.source;

import java.io.IOException;
import java.net.URI;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.UnsupportedFileSystemException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.remote.OriginProvider;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.tools.input.InputException;

/**
 * Opens locations on Hadoop's file systems, such as {@code s3a://bucket/rdb}, with the
 * configuration of {@code HADOOP_CONF_DIR} or the class path. Leaves all schemes to others if
 * Hadoop's client is not on the class path.
 */
public final class HadoopOrigins implements OriginProvider {
  /** Schemes for which Hadoop has file systems, too, but without ranges, or needlessly. */
  private static final Set<String> OTHERS = Set.of("http", "https", "file");

  /** For the service loader. */
  public HadoopOrigins() {}

  @Override
  public @Nullable RangeOrigin open(URI location) throws IOException {
    return reads(location)
        ? RangeDirectory.open(location.toString(), FileSourceOptions.local())
        : null;
  }

  /** Whether Hadoop is here and names a file system for a location. */
  public static boolean reads(URI location) throws IOException {
    String scheme = String.valueOf(location.getScheme()).toLowerCase(Locale.ROOT);
    return !OTHERS.contains(scheme)
        && isHadoopHere()
        && Schemes.isKnown(scheme, FileSourceOptions.local());
  }

  private static boolean isHadoopHere() {
    try {
      FileSources.requireHadoop(HadoopOrigins.class.getClassLoader(), "");
      return true;
    } catch (InputException none) {
      return false;
    }
  }

  /** The one class that names those of Hadoop, so that the other can be loaded without them. */
  private static final class Schemes {
    /** Whether Hadoop names a file system for a scheme, even if its jars are missing. */
    static boolean isKnown(String scheme, FileSourceOptions options) throws IOException {
      try {
        Class<?> unused = FileSystem.getFileSystemClass(scheme, HadoopConfiguration.of(options));
        return true;
      } catch (UnsupportedFileSystemException unknown) {
        return false;
      } catch (RuntimeException | LinkageError missing) {
        return true; // opening it says what is missing
      }
    }
  }
}
