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
import tech.bsdb.format.Manifest;

/**
 * Finds the files that the inputs stand for and checks that they can be read.
 *
 * <p>A directory stands for all regular files below it, symbolic links followed, sorted by the
 * bytes of their paths. Below it, names that begin with a dot or an underscore are left out, as
 * Hadoop does: they are other programs' marks and half written files. A directory below it that is
 * a database is left out too. What is named as an input itself is read whatever its name.
 */
final class InputFiles {
  private static final String STANDARD_INPUT = "-";

  private InputFiles() {}

  /**
   * The files in the order to be read.
   *
   * @param databases is added the databases that were found below a directory and left out
   */
  static List<InputFile> find(List<String> inputs, List<Path> databases) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    if (Collections.frequency(inputs, STANDARD_INPUT) > 1) {
      throw new InputException("stdin: given twice as an input, but can be read once");
    }
    List<InputFile> files = new ArrayList<>();
    for (String input : inputs) {
      if (input.equals(STANDARD_INPUT)) {
        files.add(InputFile.standardInput());
      } else {
        find(path(input), files, databases);
      }
    }
    return List.copyOf(files);
  }

  private static Path path(String input) throws InputException {
    try {
      return Path.of(input);
    } catch (InvalidPathException noPath) {
      throw new InputException(input + ": not a file name here: " + noPath.getReason(), noPath);
    }
  }

  private static void find(Path path, List<InputFile> files, List<Path> databases)
      throws IOException {
    try {
      if (Files.isDirectory(path)) {
        if (isDatabase(path)) {
          throw new InputException(
              path
                  + ": is a bsdb database, not an input (to read its records: bsdb scan -d "
                  + path
                  + ")");
        }
        List<Path> below = list(path, databases);
        if (below.isEmpty()) {
          throw new InputException(
              path
                  + ": no input files in this directory (names that begin with . or _ are left"
                  + " out)");
        }
        for (Path file : below) {
          files.add(readable(file));
        }
      } else {
        files.add(readable(path));
      }
    } catch (InputException named) {
      throw named;
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  private static InputFile readable(Path path) throws IOException {
    if (!Files.exists(path)) {
      throw new InputException(path + ": no such file or directory");
    }
    if (!Files.isReadable(path)) {
      throw new InputException(path + ": permission denied");
    }
    return InputFile.of(path);
  }

  private static List<Path> list(Path directory, List<Path> databases) throws IOException {
    List<Path> files = new ArrayList<>();
    Files.walkFileTree(
        directory,
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        Integer.MAX_VALUE,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes)
              throws IOException {
            if (isData(below) && isDatabase(below)) {
              databases.add(below);
              return FileVisitResult.SKIP_SUBTREE;
            }
            return below.equals(directory) || isData(below)
                ? FileVisitResult.CONTINUE
                : FileVisitResult.SKIP_SUBTREE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            if (attributes.isSymbolicLink() && isData(file)) {
              throw new InputException(
                  file + ": no such file or directory: the link leads nowhere");
            }
            if (attributes.isRegularFile() && isData(file)) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
            if (failure instanceof FileSystemLoopException || !isData(file)) {
              return FileVisitResult.CONTINUE;
            }
            throw InputException.reading(file.toString(), failure);
          }
        });
    Collections.sort(files);
    return files;
  }

  private static boolean isDatabase(Path directory) throws IOException {
    Path manifest = directory.resolve(Manifest.FILE_NAME);
    return Files.isRegularFile(manifest)
        && Files.isReadable(manifest)
        && Rejects.isOfDatabase(manifest);
  }

  private static boolean isData(Path path) {
    @Nullable Path last = path.getFileName();
    String name = last == null ? "" : last.toString();
    return !name.startsWith(".") && !name.startsWith("_");
  }
}
