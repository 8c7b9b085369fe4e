package tech.bsdb.tools.source;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
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
    boolean hidden = pattern.matches("(.*[/{,])?[._].*");
    List<Path> matches = new ArrayList<>();
    if (!Files.isDirectory(base.toString().isEmpty() ? Path.of(".") : base)) {
      return matches;
    }
    int depth =
        pattern.contains("**")
            ? Integer.MAX_VALUE
            : (int) pattern.chars().filter(c -> c == '/').count() + 1;
    Path start = base.toString().isEmpty() ? Path.of(".") : base;
    Files.walkFileTree(
        start,
        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
        depth,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path below, BasicFileAttributes attributes) {
            if (below.equals(start)) {
              return FileVisitResult.CONTINUE;
            }
            return add(below, true) || !wanted(below, true)
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            add(file, false);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure) {
            add(file, false); // so that reading it reports why it fails
            return FileVisitResult.CONTINUE;
          }

          private boolean wanted(Path path, boolean directory) {
            return hidden || FolderWalk.isData(LocalFiles.name(path), directory);
          }

          private boolean add(Path path, boolean directory) {
            Path named = base.toString().isEmpty() ? start.relativize(path) : path;
            return wanted(path, directory) && matcher.matches(named) && matches.add(named);
          }
        });
    Collections.sort(matches);
    return matches;
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
