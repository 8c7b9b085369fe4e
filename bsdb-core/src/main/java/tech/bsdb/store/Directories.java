package tech.bsdb.store;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tech.bsdb.format.Manifest;

/** Directory operations of a store. */
final class Directories {
  /** The names of the directories of shards in a set (FORMAT.md §14). */
  private static final Pattern SHARDS = Pattern.compile("shard-[0-9]{5}-[0-9a-f]{8}");

  private Directories() {}

  static boolean isDatabase(Path directory) {
    return Files.isRegularFile(directory.resolve(Manifest.FILE_NAME));
  }

  static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.sorted().toList();
    }
  }

  /**
   * Forces a directory's entries to the device, even if interrupted; the interrupt flag stays set.
   */
  static void force(Path directory) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
          channel.force(true);
          return;
        } catch (ClosedByInterruptException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Creates a directory and its missing parents, and records those it created, deepest first.
   *
   * @throws java.nio.file.NoSuchFileException if one of them is removed meanwhile
   */
  static void make(Path directory, List<Path> made) throws IOException {
    List<Path> missing = new ArrayList<>();
    for (Path path = directory; path != null && !Files.exists(path); path = path.getParent()) {
      missing.add(path);
    }
    Collections.reverse(missing);
    for (Path path : missing) {
      try {
        Files.createDirectory(path);
        made.add(0, path);
      } catch (java.nio.file.FileAlreadyExistsException createdConcurrently) {
        // checked below
      }
    }
    BasicFileAttributes found = Files.readAttributes(directory, BasicFileAttributes.class);
    if (!found.isDirectory()) {
      throw new NotDirectoryException(
          directory + " is not a directory; a store must be a directory");
    }
  }

  /** Whether a path is the directory of a shard in a set of them; a link to one is not. */
  static boolean isShard(Path path) {
    return SHARDS.matcher(name(path)).matches()
        && Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether a path is a directory with files of a database, and no others, but no manifest. */
  static boolean isRemainder(Path path) throws IOException {
    return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        && !isDatabase(path)
        && holdsDatabaseFilesOnly(path)
        && !list(path).isEmpty();
  }

  /** Whether a directory contains only files and shards that a publication writes. */
  static boolean holdsDatabaseFilesOnly(Path directory) throws IOException {
    for (Path entry : list(directory)) {
      boolean ours = isShard(entry) ? holdsShardFilesOnly(entry) : isPublished(entry);
      if (!ours) {
        return false;
      }
    }
    return true;
  }

  private static boolean holdsShardFilesOnly(Path shard) throws IOException {
    return list(shard).stream().allMatch(Directories::isDatabaseFile);
  }

  private static boolean isPublished(Path file) {
    return isDatabaseFile(file)
        || (name(file).equals(Publication.UNFINISHED)
            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS));
  }

  private static boolean isDatabaseFile(Path file) {
    return name(file).endsWith(".bsdb") && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Deletes the files of a database or a set of shards, then the directory; if it or a shard
   * contains other files, they and their directories stay. Of a symbolic link, only the link is
   * deleted.
   */
  static void delete(Path directory) throws IOException {
    if (Files.isSymbolicLink(directory)) {
      Files.deleteIfExists(directory);
      return;
    }
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (Path entry : list(directory)) {
      if (isShard(entry)) {
        for (Path file : list(entry)) {
          if (isDatabaseFile(file)) {
            Files.deleteIfExists(file);
          }
        }
        deleteIfEmpty(entry);
      } else if (isPublished(entry)) {
        Files.deleteIfExists(entry);
      }
    }
    deleteIfEmpty(directory);
  }

  private static void deleteIfEmpty(Path directory) throws IOException {
    try {
      Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      // contains other files
    }
  }
}
