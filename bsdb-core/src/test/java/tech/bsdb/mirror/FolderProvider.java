package tech.bsdb.mirror;

import java.net.URI;
import java.nio.file.Path;
import tech.bsdb.remote.OriginProvider;
import tech.bsdb.remote.RangeOrigin;

/** Opens {@code far://host/DIRECTORY}. */
public final class FolderProvider implements OriginProvider {
  @Override
  public RangeOrigin open(URI location) {
    return "far".equals(location.getScheme())
        ? new FolderRanges.Closed(location, Path.of(location.getPath()))
        : null;
  }
}
