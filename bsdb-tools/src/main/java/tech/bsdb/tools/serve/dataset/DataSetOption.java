package tech.bsdb.tools.serve.dataset;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;

/** The option {@code -d} of {@code bsdb serve}: a directory, a folder, or names and directories. */
public final class DataSetOption {
  private DataSetOption() {}

  /**
   * Reads the option.
   *
   * @throws UsageException if names are wrong, or repeated
   * @throws IOException if a directory is not there, or cannot be a database or store
   */
  public static DataSetLocations of(Arguments arguments) throws UsageException, IOException {
    List<String> given = arguments.all("-d");
    boolean anyNamed = false;
    for (String each : given) {
      anyNamed |= isNamed(each);
    }
    if (!anyNamed) {
      if (given.size() > 1) {
        throw new UsageException(
            "-d is given " + given.size() + " times; name each data set: -d NAME=DIR");
      }
      if (arguments.has("--follow")) {
        return DataSetLocations.single(DatabaseOption.place(arguments));
      }
      Path directory = DatabaseOption.of(arguments);
      return DataSetLocations.isFolder(directory)
          ? DataSetLocations.in(directory)
          : DataSetLocations.single(directory);
    }
    if (arguments.has("--follow")) {
      throw new UsageException(
          "--follow brings the versions of one data set; give -d one store without a name, and"
              + " bring those of others with bsdb pull");
    }
    Map<String, Path> named = new LinkedHashMap<>();
    for (String each : given) {
      if (!isNamed(each)) {
        throw new UsageException(
            "-d \"" + each + "\" has no name among others that have: NAME=DIR");
      }
      int end = each.indexOf('=');
      String name = each.substring(0, end);
      if (!DataSetLocations.isName(name)) {
        throw new UsageException("-d \"" + each + "\": " + DataSetLocations.NAME_RULES);
      }
      String directory = each.substring(end + 1);
      if (directory.isEmpty()) {
        throw new UsageException("-d \"" + each + "\" names no directory");
      }
      if (named.put(name, DatabaseOption.of(Arguments.pathOf("-d", directory), directory))
          != null) {
        throw new UsageException("-d gives the name " + name + " twice");
      }
    }
    return DataSetLocations.named(named);
  }

  /** Whether a value is a name with a directory. A directory that exists is meant as a whole. */
  private static boolean isNamed(String value) throws UsageException {
    int end = value.indexOf('=');
    return end >= 0
        && value.lastIndexOf('/', end) < 0
        && Files.notExists(Arguments.pathOf("-d", value));
  }
}
