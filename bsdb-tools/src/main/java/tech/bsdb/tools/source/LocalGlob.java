package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.PatternSyntaxException;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.LocalFiles;

/** Expands a {@link PathMatcher} pattern of local paths: {@code day=*}{@code /*.parquet}. */
final class LocalGlob {
  private LocalGlob() {}

  /** Whether a text has pattern characters. */
  static boolean isPattern(String text) {
    return text.chars().anyMatch(c -> "*?[{".indexOf(c) >= 0);
  }

  /**
   * Returns the matching files and directories, sorted, without those below a matching directory.
   * Names that begin with a dot or an underscore match only a pattern that contains such a name.
   *
   * @throws InputException if it is not a pattern
   */
  static List<Path> expand(String pattern) throws IOException {
    Path base = base(pattern);
    PathMatcher matcher;
    try {
      matcher = base.getFileSystem().getPathMatcher("glob:" + pattern);
    } catch (PatternSyntaxException e) {
      throw new InputException(
          pattern + ": no such file, and not a pattern: " + e.getDescription(), e);
    }
    List<Path> matches = new ArrayList<>();
    if (Files.isDirectory(base)) {
      LocalFiles.below(base, new Matches(base, pattern, matcher, matches));
    }
    Collections.sort(matches);
    return matches;
  }

  /** Collects what matches, and takes no file of the walk. */
  private record Matches(Path base, String pattern, PathMatcher matcher, List<Path> matches)
      implements LocalFiles.Choice {
    @Override
    public boolean enters(Path directory) {
      return !add(directory, true)
          && isWanted(directory, true)
          && (pattern.contains("**")
              || slashes(base.relativize(directory).toString()) < slashes(pattern))
          && Files.isReadable(directory);
    }

    @Override
    public boolean takes(Path file) {
      add(file, false); // also if it cannot be read, so that reading it reports why
      return false;
    }

    @Override
    public void loops(Path link) {
      add(link, false);
    }

    private boolean add(Path path, boolean directory) {
      return isWanted(path, directory) && matcher.matches(path) && matches.add(path);
    }

    private boolean isWanted(Path path, boolean directory) {
      return FolderWalk.isData(LocalFiles.name(path), directory)
          || pattern.matches("(.*[/{,])?[._].*");
    }

    private static long slashes(String path) {
      return path.chars().filter(c -> c == '/').count();
    }
  }

  /**
   * Returns the folder that contains all possible matches: everything before the first variable
   * name.
   */
  static Path base(String pattern) {
    return Path.of(fixedPart(pattern));
  }

  /**
   * Returns the part of a pattern before the first variable name, without the slash, except for the
   * root.
   */
  static String fixedPart(String pattern) {
    int special = 0;
    while ("*?[{\\".indexOf(pattern.charAt(special)) < 0) {
      special++;
    }
    int slash = pattern.lastIndexOf('/', special);
    return slash == 0 ? "/" : pattern.substring(0, Math.max(0, slash));
  }
}
