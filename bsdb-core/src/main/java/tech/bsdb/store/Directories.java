package tech.bsdb.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.Manifest;

/** What a store does with directories. */
final class Directories {
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

  /** Makes what is there in the directory last. */
  static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Makes a directory and its missing parents; notes those that it made, the deepest first.
   *
   * @throws java.nio.file.NoSuchFileException if somebody removes one of them meanwhile
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
      } catch (java.nio.file.FileAlreadyExistsException somebodyWasQuicker) {
        // checked below
      }
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory + " is not a directory; a store is one");
    }
  }

  /** Deletes a file or a directory with all in it; follows no links. */
  static void delete(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            if (e instanceof NoSuchFileException) {
              return FileVisitResult.CONTINUE;
            }
            throw e;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
