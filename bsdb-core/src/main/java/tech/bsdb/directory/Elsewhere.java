package tech.bsdb.directory;

import java.nio.file.Path;

/**
 * Where a database or a set lies whose small files alone are in a directory here. Its other files
 * have paths in this directory, too, as names for what is read elsewhere.
 */
@FunctionalInterface
public interface Elsewhere {
  /** The location of a directory or a file as people write it, by the path that it has here. */
  String location(Path path);
}
