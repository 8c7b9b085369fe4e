package tech.bsdb.tools.source;

import java.util.List;
import tech.bsdb.tools.cli.UsageException;

/**
 * Selects files below a directory; hidden files are never selected.
 *
 * @param include patterns, one of which a file or a directory above it must match; empty for all
 * @param exclude patterns of files and directories to exclude, with everything below them
 * @param rawFiles whether to read the files of Delta Lake, Iceberg and similar tables regardless of
 *     the table's log
 */
public record FolderSelection(List<String> include, List<String> exclude, boolean rawFiles) {
  /** Selects everything except tables. */
  public static final FolderSelection ALL = new FolderSelection(List.of(), List.of(), false);

  /** Copies the lists. */
  public FolderSelection {
    include = List.copyOf(include);
    exclude = List.copyOf(exclude);
  }

  /**
   * Parses the options as users write them: each {@code --include}, each {@code --exclude}, {@code
   * --raw-files}.
   */
  public static FolderSelection of(List<String> include, List<String> exclude, boolean rawFiles)
      throws UsageException {
    check("--include", include);
    check("--exclude", exclude);
    return new FolderSelection(include, exclude, rawFiles);
  }

  private static void check(String option, List<String> patterns) throws UsageException {
    for (String pattern : patterns) {
      if (pattern.isEmpty()) {
        throw new UsageException(option + " needs a pattern, not \"\"");
      }
      try {
        PathPattern.of(pattern);
      } catch (IllegalArgumentException e) {
        throw new UsageException(option + " " + pattern + ": not a pattern: " + e.getMessage());
      }
    }
  }
}
