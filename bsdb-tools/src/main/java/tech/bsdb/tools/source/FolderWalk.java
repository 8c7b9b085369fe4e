package tech.bsdb.tools.source;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
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

  /**
   * A glob pattern for paths below a directory: {@code *} and {@code ?} match characters of one
   * name, {@code **} any characters, {@code [a-z]} and {@code [!a-z]} one of a set, {@code {a,b}}
   * either; a backslash quotes the next character. A pattern with a slash matches whole paths; one
   * without matches names at any depth. A pattern that ends with a slash matches only directories.
   * Patterns work the same on every file system and in every locale. Immutable.
   */
  record PathPattern(boolean wholePath, boolean directoriesOnly, Pattern regex) {
    /**
     * Parses a pattern.
     *
     * @throws IllegalArgumentException if it is not a pattern; the message says why
     */
    static PathPattern of(String glob) {
      boolean directoriesOnly = glob.endsWith("/");
      String path = directoriesOnly ? glob.substring(0, glob.length() - 1) : glob;
      boolean wholePath = path.contains("/");
      path = path.startsWith("/") ? path.substring(1) : path;
      if (path.isEmpty()) {
        throw new IllegalArgumentException("the pattern is empty");
      }
      return new PathPattern(wholePath, directoriesOnly, new Translation(path).regex());
    }

    /**
     * Whether a path matches.
     *
     * @param path the path below the directory, with slashes between names
     */
    boolean matches(String path, boolean directory) {
      return (directory || !directoriesOnly)
          && regex.matcher(wholePath ? path : path.substring(path.lastIndexOf('/') + 1)).matches();
    }

    /** Translates a glob to a regular expression. */
    private static final class Translation {
      private final String glob;
      private final StringBuilder regex = new StringBuilder();
      private int at;
      private boolean inGroup;

      Translation(String glob) {
        this.glob = glob;
      }

      Pattern regex() {
        while (at < glob.length()) {
          next(glob.charAt(at++));
        }
        if (inGroup) {
          throw new IllegalArgumentException("a { has no }");
        }
        try {
          return Pattern.compile(regex.toString(), Pattern.DOTALL);
        } catch (PatternSyntaxException e) {
          throw new IllegalArgumentException(e.getDescription(), e);
        }
      }

      private void next(char c) {
        switch (c) {
          case '*' -> star();
          case '?' -> regex.append("[^/]");
          case '[' -> set();
          case '{' -> {
            if (inGroup) {
              throw new IllegalArgumentException("a { inside another");
            }
            inGroup = true;
            regex.append("(?:");
          }
          case '}' -> regex.append(inGroup ? ")" : "\\}");
          case ',' -> regex.append(inGroup ? "|" : ",");
          case '\\' -> {
            if (at == glob.length()) {
              throw new IllegalArgumentException("nothing follows the last \\");
            }
            literal(glob.charAt(at++));
          }
          default -> literal(c);
        }
        inGroup = inGroup && c != '}';
      }

      private void star() {
        boolean anyDepth = at < glob.length() && glob.charAt(at) == '*';
        at += anyDepth ? 1 : 0;
        if (anyDepth && at < glob.length() && glob.charAt(at) == '/') {
          at++;
          regex.append("(?:.*/)?"); // **/x is also x itself
        } else {
          regex.append(anyDepth ? ".*" : "[^/]*");
        }
      }

      private void set() {
        int end = glob.indexOf(']', at + 1);
        if (end < 0) {
          throw new IllegalArgumentException("a [ has no ]");
        }
        String members = glob.substring(at, end);
        at = end + 1;
        boolean not = members.startsWith("!") || members.startsWith("^");
        String listed = not ? members.substring(1) : members;
        regex
            .append("(?!/)[")
            .append(not ? "^" : "")
            .append(listed.replaceAll("[\\[\\]\\\\&^]", "\\\\$0"))
            .append("]");
      }

      private void literal(char c) {
        boolean special = c < 128 && !Character.isLetterOrDigit(c);
        regex.append(special ? "\\" : "").append(c);
      }
    }
  }
}
