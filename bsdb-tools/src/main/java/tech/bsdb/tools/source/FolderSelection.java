package tech.bsdb.tools.source;

import java.util.List;
import tech.bsdb.tools.cli.UsageException;

/**
 * What of the files below a directory is wanted, beside hidden ones, which never are.
 *
 * @param include patterns, one of which a file or a directory above it has to match; empty for all
 * @param exclude patterns of the files and directories that are left out, with all below them
 * @param rawFiles whether the files of a table of Delta Lake, Iceberg and the like are wanted as
 *     they are, whatever the table says of them
 */
public record FolderSelection(List<String> include, List<String> exclude, boolean rawFiles) {
  /** Everything, but for tables. */
  public static final FolderSelection ALL = new FolderSelection(List.of(), List.of(), false);

  /** Copies the lists. */
  public FolderSelection {
    include = List.copyOf(include);
    exclude = List.copyOf(exclude);
  }

  /**
   * Reads the options as users write them: each {@code --include}, each {@code --exclude}, {@code
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
        throw new UsageException(option + " takes a pattern, not \"\"");
      }
      try {
        PathPattern.of(pattern);
      } catch (IllegalArgumentException e) {
        throw new UsageException(option + " " + pattern + ": not a pattern: " + e.getMessage());
      }
    }
  }
}
