package tech.bsdb.remote;

import java.io.IOException;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Opens locations of some schemes, such as {@code s3a}. {@link java.util.ServiceLoader} finds it,
 * if a class path or module path offers one.
 */
public interface OriginProvider {
  /**
   * Opens a location. If possible, sends no request yet.
   *
   * @param location an absolute URI
   * @return the directory there, or null if this does not read the scheme. If it is {@link
   *     AutoCloseable}, it is closed with the database
   * @throws IOException if it reads the scheme, but cannot open this location
   */
  @Nullable RangeOrigin open(URI location) throws IOException;
}
