package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.io.OwnedNames;
import tech.bsdb.transfer.Consignment;

/** Directory operations of a store. */
final class Directories {
  /** What a publication writes; links are somebody else's. */
  private static final OwnedNames OURS =
      new OwnedNames(
          name -> isDatabaseFile(name) || name.equals(Publication.UNFINISHED),
          Consignment::isShardDirectory,
          Directories::isDatabaseFile,
          /* links= */ false);

  private Directories() {}

  static boolean isDatabase(Path directory) {
    return Files.isRegularFile(directory.resolve(Consignment.MANIFEST));
  }

  private static boolean isDatabaseFile(String name) {
    return name.endsWith(".bsdb");
  }

  /**
   * Creates a directory and its missing parents, and records those it created, deepest first.
   *
   * @throws java.nio.file.NoSuchFileException if one of them is removed meanwhile
   */
  static void make(Path directory, List<Path> made) throws IOException {
    DurableFiles.makeDirectories(directory, made);
    if (!Files.readAttributes(directory, BasicFileAttributes.class).isDirectory()) {
      throw new NotDirectoryException(
          directory + " is not a directory; a store must be a directory");
    }
  }

  /** Whether a path is the directory of a shard in a set of them; a link to one is not. */
  static boolean isShard(Path path) {
    return Consignment.isShardDirectory(DurableFiles.name(path))
        && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether a path is a directory with files of a database, and no others, but no manifest. */
  static boolean isRemainder(Path path) throws IOException {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        && !isDatabase(path)
        && holdsDatabaseFilesOnly(path)
        && !DurableFiles.list(path).isEmpty();
  }

  /** Whether a directory contains only files and shards that a publication writes. */
  static boolean holdsDatabaseFilesOnly(Path directory) throws IOException {
    return OURS.areAllIn(directory);
  }

  /**
   * Deletes the files of a database or a set of shards, then the directory; if it or a shard
   * contains other files, they and their directories stay. Of a symbolic link, only the link is
   * deleted.
   */
  static void delete(Path directory) throws IOException {
    if (Files.isSymbolicLink(directory)) {
      Files.deleteIfExists(directory);
    } else if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      OURS.deleteIn(directory, "");
      DurableFiles.deleteIfEmpty(directory);
    }
  }
}
