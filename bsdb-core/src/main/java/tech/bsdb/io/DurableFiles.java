package tech.bsdb.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/** Operations on directories and small files, most of them to make changes outlast a power cut. */
public final class DurableFiles {
  private DurableFiles() {}

  /**
   * Forces a directory's entries to the device.
   *
   * @throws ClosedByInterruptException if the thread is interrupted, and stays so
   */
  public static void force(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Forces a directory's entries to the device, even if interrupted; the interrupt flag stays set.
   */
  public static void forceUninterrupted(Path directory) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          force(directory);
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

  /** Forces the entries of the directory that holds a path, even if interrupted. */
  public static void forceParent(Path path) throws IOException {
    Path parent = path.getParent();
    if (parent != null) {
      forceUninterrupted(parent);
    }
  }

  /** Writes a file, new or anew, forced to the device; its entry in the directory is not. */
  public static void write(Path file, byte[] content) throws IOException {
    try (FileChannel out =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      write(out, content);
    }
  }

  /** Writes all that an open file holds, forced to the device. */
  public static void write(FileChannel out, byte[] content) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(content);
    while (buffer.hasRemaining()) {
      out.write(buffer);
    }
    out.force(true);
  }

  /** The entries of a directory, sorted. */
  public static List<Path> list(Path directory) throws IOException {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.sorted().toList();
    }
  }

  /** The last name of a path. */
  public static String name(Path path) {
    return String.valueOf(path.getFileName());
  }

  /**
   * Creates a directory and its missing parents, unless others create them meanwhile. The caller
   * checks that there is a directory then.
   *
   * @param made receives those that this created, deepest first
   * @throws java.nio.file.NoSuchFileException if one of them is removed meanwhile
   */
  public static void makeDirectories(Path directory, List<Path> made) throws IOException {
    List<Path> missing = new ArrayList<>();
    for (Path path = directory; path != null && !Files.exists(path); path = path.getParent()) {
      missing.add(path);
    }
    Collections.reverse(missing);
    for (Path path : missing) {
      try {
        Files.createDirectory(path);
        made.add(0, path);
      } catch (FileAlreadyExistsException e) {
        if (Files.isSymbolicLink(path)) { // it leads nowhere
          throw e;
        }
      }
    }
  }

  /** Removes directories, up to the first that is not empty or cannot be removed. */
  public static void removeIfEmpty(List<Path> deepestFirst) {
    for (Path directory : deepestFirst) {
      try {
        Files.deleteIfExists(directory);
      } catch (IOException inUse) {
        return;
      }
    }
  }

  /** Removes a directory unless it holds something. */
  public static void deleteIfEmpty(Path directory) throws IOException {
    try {
      Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      // contains files of others
    }
  }
}
