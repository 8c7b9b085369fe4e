package tech.bsdb.tools.source;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tech.bsdb.tools.input.LocalFiles;

/**
 * Decides, for each name below a directory, whether it is wanted, and counts what patterns leave
 * out. Paths are those below the directory, with slashes between names; the directory itself is the
 * empty one.
 */
final class FolderWalk {
  /** What to say of an input of which nothing is wanted. */
  static final String NOTHING_LEFT = ": --include and --exclude leave nothing of it";

  private final List<PathPattern> include;
  private final List<PathPattern> exclude;
  private final Set<String> directoriesLeftOut = new HashSet<>();
  private long filesLeftOut;

  FolderWalk(FolderSelection selection) {
    this.include = selection.include().stream().map(PathPattern::of).toList();
    this.exclude = selection.exclude().stream().map(PathPattern::of).toList();
  }

  /**
   * Whether a name is not one of those that are always left out: other programs' marks and half
   * written files. A directory {@code _name=value} is a partition, as it is to Spark.
   */
  static boolean isData(String name, boolean directory) {
    return LocalFiles.isData(name) || directory && name.startsWith("_") && name.contains("=");
  }

  /**
   * Whether to look into a directory.
   *
   * @param base the directory above all, by which counts tell apart what lies below several
   */
  boolean enters(String base, String path) {
    return path.isEmpty() || !isBelowExcluded(base, path + "/");
  }

  /** Whether a file is wanted. */
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

  /** The directories above a path, from the top. */
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

  /** Directories and files left out up to now. */
  long leftOut() {
    return filesLeftOut + directoriesLeftOut.size();
  }

  /** Directories left out with all below them. */
  long directoriesLeftOut() {
    return directoriesLeftOut.size();
  }

  /** Files left out, without those below a directory that was. */
  long filesLeftOut() {
    return filesLeftOut;
  }

  /**
   * The names of the directories that make partitions of a file: all {@code NAME=VALUE} between the
   * input and the file, and those in an unbroken row that end the input's own path. So a file has
   * the same however the input names it.
   *
   * @param base the absolute path of the input's directory
   * @param path the file's below that
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
