package tech.bsdb.tools.serve.dataset;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.inspect.Place;
import tech.bsdb.tools.inspect.PlaceOptions;

/**
 * Where the data sets of a service are: one place without a name, several with names, or all
 * databases and stores in a folder, whose names are those of their directories. Immutable.
 *
 * @param folder the folder; null if the places are fixed
 * @param fixed the places that are fixed, by name, in the order of their numbers
 */
public record DataSetLocations(@Nullable Path folder, Map<String, Place> fixed)
    implements AutoCloseable {
  /** The rules for names, which are parts of paths and labels, and no numbers. */
  private static final String NAME_RULES =
      "a name has 1 to 64 letters, digits, hyphens, underscores and dots, begins with a letter or"
          + " digit, and is not a number";

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");

  /** A single data set, which has no name. */
  public static DataSetLocations single(Path directory) {
    return single(new Place.Here(directory, directory));
  }

  /** A single data set, which has no name. */
  public static DataSetLocations single(Place place) {
    return new DataSetLocations(null, Map.of("", place));
  }

  /** Data sets by their names, in the order of their numbers. */
  public static DataSetLocations named(Map<String, Path> directories) {
    Map<String, Place> places = new LinkedHashMap<>();
    directories.forEach((name, each) -> places.put(name, new Place.Here(each, each)));
    return new DataSetLocations(null, places);
  }

  /** The databases and stores in a folder. */
  public static DataSetLocations in(Path folder) {
    return new DataSetLocations(folder, Map.of());
  }

  /**
   * Reads the option {@code -d} of {@code bsdb serve}: a place, a folder, or names and places.
   *
   * @throws UsageException if names are wrong, or repeated
   * @throws IOException if a directory is not there, or cannot be a database or store
   */
  public static DataSetLocations of(Arguments arguments) throws UsageException, IOException {
    DataSetLocations found = read(arguments);
    if (found.areAllHere()) {
      PlaceOptions.refuse(arguments, !arguments.has("--follow"));
    }
    return found;
  }

  private static DataSetLocations read(Arguments arguments) throws UsageException, IOException {
    List<String> given = arguments.all("-d");
    boolean anyNamed = false;
    for (String each : given) {
      anyNamed |= hasName(each);
    }
    if (!anyNamed) {
      if (given.size() > 1) {
        throw new UsageException(
            "-d is given " + given.size() + " times; name each data set: -d NAME=DIR");
      }
      if (arguments.has("--follow")) {
        return single(DatabaseOption.place(arguments));
      }
      if (given.isEmpty()) {
        return here(DatabaseOption.of(arguments));
      }
      arguments.refuseEmpty("-d", "the directory of a database");
      Place place = PlaceOptions.followed(arguments, given.get(0));
      return place instanceof Place.Here here ? here(here.directory()) : single(place);
    }
    if (arguments.has("--follow")) {
      throw new UsageException(
          "--follow brings the versions of one data set; give -d one store without a name, and"
              + " bring those of others with bsdb pull");
    }
    Map<String, Place> named = new LinkedHashMap<>();
    for (String each : given) {
      if (!hasName(each)) {
        throw new UsageException(
            "-d \"" + each + "\" has no name among others that have: NAME=PLACE");
      }
      int end = each.indexOf('=');
      String name = each.substring(0, end);
      if (!isName(name)) {
        throw new UsageException("-d \"" + each + "\": " + NAME_RULES);
      }
      String directory = each.substring(end + 1);
      if (directory.isEmpty()) {
        throw new UsageException("-d \"" + each + "\" names no directory");
      }
      if (named.put(name, PlaceOptions.followed(arguments, directory)) != null) {
        throw new UsageException("-d gives the name " + name + " twice");
      }
    }
    return new DataSetLocations(null, named);
  }

  private static DataSetLocations here(Path directory) throws IOException {
    return isFolder(directory) ? in(directory) : single(directory);
  }

  /** Whether a value is a name with a directory. A directory that exists is meant as a whole. */
  private static boolean hasName(String value) throws UsageException {
    int end = value.indexOf('=');
    return end >= 0
        && value.lastIndexOf('/', end) < 0
        && Files.notExists(Arguments.pathOf("-d", value));
  }

  /**
   * Whether a directory is neither a database nor a store, but contains a store. One that contains
   * databases alone may be a store that has lost its current version.
   */
  private static boolean isFolder(Path directory) throws IOException {
    if (isDataSet(directory)) {
      return false;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        if (Store.isStore(entry)) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isDataSet(Path directory) {
    return Store.isStore(directory) || Files.isRegularFile(Database.manifest(directory));
  }

  /** Whether a text keeps to {@link #NAME_RULES}. */
  private static boolean isName(String name) {
    return NAME.matcher(name).matches() && !NUMBER.matcher(name).matches();
  }

  /** Whether the data sets have names. */
  public boolean areNamed() {
    return folder != null || !fixed.containsKey("");
  }

  /** Whether all data sets are in directories here. */
  public boolean areAllHere() {
    return fixed.values().stream().allMatch(DataSetLocations::isHere);
  }

  /** Whether no data set is in a directory here. */
  public boolean areAllElsewhere() {
    return folder == null && fixed.values().stream().noneMatch(DataSetLocations::isHere);
  }

  private static boolean isHere(Place place) {
    return place instanceof Place.Here;
  }

  /** Returns the places that are fixed, for people. */
  String places() {
    return fixed.entrySet().stream()
        .map(each -> each.getKey().isEmpty() ? each.getValue().named() : shown(each))
        .collect(Collectors.joining(", "));
  }

  private static String shown(Map.Entry<String, Place> each) {
    return each.getKey() + "=" + each.getValue().named();
  }

  /**
   * Finds the data sets: their places by name, in the order in which they get numbers.
   *
   * @param ignored told about each entry of the folder that is left out because of its name
   * @throws IOException if the folder cannot be read, or holds no data set
   */
  Map<String, Place> find(Consumer<String> ignored) throws IOException {
    Path searched = folder;
    if (searched == null) {
      return fixed;
    }
    Map<String, Place> found = new TreeMap<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(searched)) {
      for (Path entry : entries) {
        String name = String.valueOf(entry.getFileName());
        if (name.startsWith(".") || !isDataSet(entry)) {
          continue;
        }
        if (isName(name)) {
          found.put(name, new Place.Here(entry, entry));
        } else {
          ignored.accept(entry + " is not served: " + NAME_RULES);
        }
      }
    }
    if (found.isEmpty()) {
      throw new NoSuchFileException(
          searched.toString(), null, "no database and no store is in this folder");
    }
    return found;
  }

  /** Returns the single directory; null if data sets have names, or the only one is elsewhere. */
  public @Nullable Path directory() {
    return fixed.get("") instanceof Place.Here here ? here.directory() : null;
  }

  /** Closes the places, after what was opened there. */
  @Override
  public void close() throws IOException {
    for (Place place : fixed.values()) {
      place.close();
    }
  }
}
