package tech.bsdb.write;

import java.nio.file.Path;

/**
 * Where an assembly works.
 *
 * @param directory the directory of the database files
 * @param temporaryDirectory the directory for temporary files, which may be the same
 * @param lasting whether the database must survive a crash of the machine, so that its files are
 *     forced to the device
 */
public record BuildPlace(Path directory, Path temporaryDirectory, boolean lasting) {
  /** A place of a database that must survive a crash. */
  public BuildPlace(Path directory, Path temporaryDirectory) {
    this(directory, temporaryDirectory, true);
  }
}
