package tech.bsdb.tools.source;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;

/**
 * Decides for each name below a directory whether it is selected, and counts what patterns exclude.
 * Paths are relative to the directory, with slashes between names; the directory itself is the
 * empty path.
 */
final class FolderWalk {
  private final List<PathPattern> include;
  private final List<PathPattern> exclude;
  private final Set<String> directoriesLeftOut = new HashSet<>();
  private long filesLeftOut;

  FolderWalk(FolderSelection selection) {
    this.include = selection.include().stream().map(PathPattern::of).toList();
    this.exclude = selection.exclude().stream().map(PathPattern::of).toList();
  }

  /**
   * Whether a name is not among those always skipped: other programs' markers and unfinished files.
   * A directory {@code _name=value} is a partition, as in Spark.
   */
  static boolean isData(String name, boolean directory) {
    return LocalFiles.isData(name) || directory && name.startsWith("_") && name.contains("=");
  }

  /**
   * Whether to descend into a directory.
   *
   * @param base the root directory, which distinguishes equal paths below several roots when
   *     counting
   */
  boolean enters(String base, String path) {
    return path.isEmpty() || !isBelowExcluded(base, path + "/");
  }

  /** Whether a file is selected. */
  boolean takes(String base, String path) {
    if (isBelowExcluded(base, path)) {
      return false;
    }
    if (matches(exclude, path, false) || !isIncluded(path)) {
      filesLeftOut++;
      return false;
    }
    return true;
  }

  private boolean isBelowExcluded(String base, String path) {
    for (String above : above(path)) {
      if (matches(exclude, above, true)) {
        directoriesLeftOut.add(base + "/" + above);
        return true;
      }
    }
    return false;
  }

  private boolean isIncluded(String path) {
    if (include.isEmpty() || matches(include, path, false)) {
      return true;
    }
    return above(path).stream().anyMatch(above -> matches(include, above, true));
  }

  /** Returns the directories above a path, from the top. */
  private static List<String> above(String path) {
    List<String> above = new ArrayList<>();
    for (int slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      above.add(path.substring(0, slash));
    }
    return above;
  }

  private static boolean matches(List<PathPattern> patterns, String path, boolean directory) {
    return patterns.stream().anyMatch(pattern -> pattern.matches(path, directory));
  }

  /** Returns the number of directories and files excluded so far. */
  long leftOut() {
    return filesLeftOut + directoriesLeftOut.size();
  }

  /**
   * Creates the error for an input without files.
   *
   * @param before what {@link #leftOut} was before the input
   * @param pattern whether the input is a pattern instead of a directory
   */
  InputException nothing(Object input, long before, boolean pattern) {
    if (leftOut() > before) {
      return new InputException(input + ": --include and --exclude leave nothing of it");
    }
    return new InputException(
        input
            + (pattern
                ? ": no file matches the pattern"
                : ": no input files in this directory (names that begin with . or _ are left"
                    + " out)"));
  }

  /** Returns the number of directories excluded with everything below them. */
  long directoriesLeftOut() {
    return directoriesLeftOut.size();
  }

  /** Returns the number of files excluded, not counting those below excluded directories. */
  long filesLeftOut() {
    return filesLeftOut;
  }

  /**
   * Returns the names of a file's partition directories: all {@code NAME=VALUE} between the input
   * and the file, and the unbroken run of them at the end of the input's own path. A file thus has
   * the same partitions however the input names it.
   *
   * @param base the absolute path of the input's directory
   * @param path the file's path below it
   */
  static List<String> partitions(String base, String path) {
    List<String> partitions = new ArrayList<>();
    String[] names = base.split("/", -1);
    for (int i = names.length - 1; i >= 0 && (isPartition(names[i]) || names[i].isEmpty()); i--) {
      if (!names[i].isEmpty()) {
        partitions.add(0, names[i]);
      }
    }
    String[] below = path.split("/", -1);
    for (int i = 0; i < below.length - 1; i++) {
      if (isPartition(below[i])) {
        partitions.add(below[i]);
      }
    }
    return partitions;
  }

  private static boolean isPartition(String name) {
    return name.contains("=");
  }
}
