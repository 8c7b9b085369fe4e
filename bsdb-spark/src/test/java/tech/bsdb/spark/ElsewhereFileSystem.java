package tech.bsdb.spark;

import java.net.URI;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/** The local disk as a distant file system: {@code elsewhere:///path}. */
public final class ElsewhereFileSystem extends RawLocalFileSystem {
  /** Called by Hadoop. */
  public ElsewhereFileSystem() {}

  @Override
  public String getScheme() {
    return "elsewhere";
  }

  @Override
  public URI getUri() {
    return URI.create("elsewhere:///");
  }

  @Override
  protected void checkPath(Path path) {
    // also those of the disk below
  }
}
