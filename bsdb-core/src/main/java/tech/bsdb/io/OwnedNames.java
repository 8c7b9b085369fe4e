package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.function.Predicate;

/**
 * The names that files of ours have in a directory, and in directories in it. Only regular files
 * and real directories count as ours; links are not followed. Immutable and thread-safe.
 *
 * @param file the names of files in the directory
 * @param directory the names of directories in it
 * @param below the names of files in these
 * @param links whether links that have names of files are deleted, too
 */
public record OwnedNames(
    Predicate<String> file, Predicate<String> directory, Predicate<String> below, boolean links) {

  /** Whether all that a directory holds is ours. */
  public boolean areAllIn(Path path) throws IOException {
    for (Path entry : DurableFiles.list(path)) {
      boolean ours = isDirectory(entry) ? areAllBelow(entry) : isFile(entry, file);
      if (!ours) {
        return false;
      }
    }
    return true;
  }

  private boolean areAllBelow(Path path) throws IOException {
    return DurableFiles.list(path).stream().allMatch(entry -> isFile(entry, below));
  }

  /**
   * Deletes the files that are ours, and the directories that are empty then. Those of others stay,
   * and so do the directories that hold them, and the directory itself.
   *
   * @param kept the name of a file that stays, too
   */
  public void deleteIn(Path path, String kept) throws IOException {
    for (Path entry : DurableFiles.list(path)) {
      if (isDirectory(entry)) {
        new OwnedNames(below, name -> false, below, links).deleteIn(entry, "");
        DurableFiles.deleteIfEmpty(entry);
      } else if (!DurableFiles.name(entry).equals(kept) && (isFile(entry, file) || isLink(entry))) {
        Files.deleteIfExists(entry);
      }
    }
  }

  private boolean isDirectory(Path entry) {
    return directory.test(DurableFiles.name(entry))
        && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS);
  }

  private boolean isLink(Path entry) {
    return links && file.test(DurableFiles.name(entry)) && Files.isSymbolicLink(entry);
  }

  private static boolean isFile(Path entry, Predicate<String> names) {
    return names.test(DurableFiles.name(entry))
        && Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS);
  }
}
