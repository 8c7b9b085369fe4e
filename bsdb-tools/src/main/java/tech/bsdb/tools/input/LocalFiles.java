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
    /** Whether to descend into a directory. */
    boolean enters(Path directory) throws IOException;

    /** Whether to include a file. */
    boolean takes(Path file) throws IOException;

    /** Receives a link to a directory above it, which is skipped. */
    default void loops(Path link) {}
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
      List<Path> below = below(path, new Data(databases));
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

  /** Everything but hidden names and databases. */
  private record Data(List<Path> databases) implements Choice {
    @Override
    public boolean enters(Path directory) throws IOException {
      return isData(name(directory)) && !(isDatabase(directory) && databases.add(directory));
    }

    @Override
    public boolean takes(Path file) {
      return isData(name(file));
    }
  }

  /** The chosen files below a directory, in the order of reading, possibly none. */
  public static List<Path> below(Path directory, Choice choice) throws IOException {
    List<Path> files = list(directory, choice);
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

  private static List<Path> list(Path directory, Choice choice) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes)
              throws IOException {
            return below.equals(directory) || choice.enters(below)
                ? FileVisitResult.CONTINUE
                : FileVisitResult.SKIP_SUBTREE;
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
            if (failure instanceof FileSystemLoopException) {
              choice.loops(file);
            } else if (choice.enters(file)) {
              throw InputException.reading(file.toString(), failure);
            }
            return FileVisitResult.CONTINUE;
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

  /** Whether a name is not one that is left out. */
  public static boolean isData(String name) {
    return !name.startsWith(".") && !name.startsWith("_");
  }
}
