package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Path;

/** A way to read files. Tests bring their own, which fail. */
public interface Engine {
  /** The name that options and statistics use. */
  String name();

  /** Opens a file of {@code length} bytes, a whole number of pages. */
  PageSource open(Path file, long length) throws IOException;
}
