package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.cli.ArgumentText;

/**
 * Finds the local files that an input stands for and checks that they are readable.
 *
 * <p>A directory stands for all regular files below it, with symbolic links followed, sorted by the
 * bytes of their paths. Names below it that begin with a dot or an underscore are left out, as in
 * Hadoop: they are markers and partial files of other programs. Databases below it are left out
 * too; pipes, sockets and devices are refused. A path that is given as an input itself is read
 * whatever its name.
 */
public final class LocalFiles {
  private LocalFiles() {}

  /** Selects among the files and directories below a directory. */
  public interface Choice {
    /** Whether to descend into a directory; by default, if its name is not left out. */
    default boolean enters(Path directory) throws IOException {
      return isData(directory);
    }

    /** Whether to include a file; by default, if its name is not left out. */
    default boolean takes(Path file) throws IOException {
      return isData(file);
    }
  }

  /**
   * The path that an input of the user names.
   *
   * @param input an argument
   * @throws InputException if it is not a path in this locale
   */
  public static Path path(String input) throws InputException {
    try {
      return ArgumentText.path(input);
    } catch (InvalidPathException noPath) {
      throw new InputException(
          noPath.getInput() + ": not a file name here: " + noPath.getReason(), noPath);
    }
  }

  /**
   * The files that a path stands for, in the order of reading.
   *
   * @param databases receives the databases that were found below a directory and left out
   * @throws InputException if there are none, or one is not readable
   */
  public static List<Path> find(Path path, List<Path> databases) throws IOException {
    try {
      if (!Files.isDirectory(path)) {
        return List.of(readable(path));
      }
      if (isDatabase(path)) {
        throw new InputException(
            path
                + ": is a bsdb database, not an input (to read its records: bsdb scan -d "
                + path
                + ")");
      }
      List<Path> below = below(path, databases);
      if (below.isEmpty()) {
        throw new InputException(
            path
                + ": no input files in this directory (names that begin with . or _ are left"
                + " out)");
      }
      return below;
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /**
   * The files below a directory, in the order of reading, possibly none.
   *
   * @param databases receives the databases that were found and left out
   */
  public static List<Path> below(Path directory, List<Path> databases) throws IOException {
    return below(directory, databases, new Choice() {});
  }

  /**
   * The chosen files below a directory, in the order of reading, possibly none.
   *
   * @param databases receives the databases that were found and left out
   */
  public static List<Path> below(Path directory, List<Path> databases, Choice choice)
      throws IOException {
    List<Path> files = list(directory, databases, choice);
    for (Path file : files) {
      readable(file);
    }
    return files;
  }

  private static Path readable(Path path) throws IOException {
    if (!Files.exists(path)) {
      throw new InputException(path + ": no such file or directory");
    }
    if (!Files.isReadable(path)) {
      throw new InputException(path + ": permission denied");
    }
    return path;
  }

  private static List<Path> list(Path directory, List<Path> databases, Choice choice)
      throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes)
              throws IOException {
            if (below.equals(directory)) {
              return FileVisitResult.CONTINUE;
            }
            if (!choice.enters(below)) {
              return FileVisitResult.SKIP_SUBTREE;
            }
            if (isDatabase(below)) {
              databases.add(below);
              return FileVisitResult.SKIP_SUBTREE;
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (!choice.takes(file)) {
              return FileVisitResult.CONTINUE;
            }
            if (attributes.isOther()) {
              throw new InputException(
                  file
                      + ": a pipe, a socket or a device in a directory of input files; move it away,"
                      + " or name files instead of the directory");
            }
            if (attributes.isSymbolicLink()) {
              throw new InputException(
                  file + ": no such file or directory: the link leads nowhere");
            }
            files.add(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof FileSystemLoopException || !choice.enters(file)) {
              return FileVisitResult.CONTINUE;
            }
            throw InputException.reading(file.toString(), failure);
          }
        });
    Collections.sort(files);
    return files;
  }

  /** Whether a directory is a database. */
  public static boolean isDatabase(Path directory) throws IOException {
    Path manifest = Database.manifest(directory);
    return Files.isRegularFile(manifest)
        && Files.isReadable(manifest)
        && Rejects.isOfDatabase(manifest);
  }

  /** The last name of a path; empty for a root. */
  public static String name(Path path) {
    @Nullable Path last = path.getFileName();
    return last == null ? "" : last.toString();
  }

  /** Whether the last name of a path is not one that is left out. */
  public static boolean isData(Path path) {
    return isData(name(path));
  }

  /** Whether a name is not one that is left out. */
  public static boolean isData(String name) {
    return !name.startsWith(".") && !name.startsWith("_");
  }
}
