package tech.bsdb.write;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Manifest;
import tech.bsdb.io.DurableFiles;

/**
 * The replacement of a database or a set of shards by another one, file by file.
 *
 * <p>The new files, whose names are unique to their content, are moved in, those of a shard into
 * its directory. The rename of the manifest at the root makes readers see all of them at once. Then
 * the old files are deleted, and the directories that became empty.
 *
 * <p>A journal of all these names lets the next build clean up after a killed one ({@link
 * #recover}). Nothing is moved or deleted through a symbolic link.
 */
final class Replacement {
  /** Reached by 16,384 shards with the most data files each. */
  private static final long MAX_JOURNAL_BYTES = 1L << 28;

  private final Path from;
  private final Path target;
  private final Set<String> shards;
  private final Set<String> names;
  private final Set<String> oldShards;
  private final Set<String> oldNames;

  private Replacement(
      Path from,
      Path target,
      Set<String> shards,
      Set<String> names,
      Set<String> oldShards,
      Set<String> oldNames) {
    this.from = from;
    this.target = target;
    this.shards = shards;
    this.names = names;
    this.oldShards = oldShards;
    this.oldNames = oldNames;
  }

  /** A step that may fail. */
  @FunctionalInterface
  interface Step {
    /** Takes the step. */
    void run() throws IOException;
  }

  /**
   * Reads what is to be moved and what is to be deleted.
   *
   * @param from the directory with the new files
   * @param target the directory whose files are replaced
   * @param warnings told of old files that will stay because their manifest cannot be read
   * @throws IOException if the new manifests cannot be read, or different content has equal names
   */
  static Replacement prepare(Path from, Path target, Consumer<String> warnings) throws IOException {
    ListedFiles fresh = ListedFiles.read(from);
    Set<String> names = fresh.names(from);
    Set<String> oldShards = new LinkedHashSet<>();
    Set<String> oldNames = new LinkedHashSet<>();
    if (Files.exists(target.resolve(Manifest.FILE_NAME))) {
      try {
        ListedFiles old = ListedFiles.read(target);
        refuseCollision(target, fresh, old);
        oldNames.addAll(old.files());
        oldNames.removeAll(names);
        oldShards.addAll(old.shards().keySet());
        oldShards.removeAll(fresh.shards().keySet()); // those in both have the same files
        for (String shard : oldShards) {
          oldNames.addAll(oldNames(target, old, shard, warnings));
        }
        oldNames.removeIf(name -> !ListedFiles.isName(name));
      } catch (CorruptDatabaseException | UnsupportedFormatException e) {
        warnings.accept(
            "the replaced manifest could not be read, so its files were not deleted: "
                + e.getMessage());
      }
    }
    return new Replacement(from, target, fresh.shards().keySet(), names, oldShards, oldNames);
  }

  private static void refuseCollision(Path target, ListedFiles fresh, ListedFiles old)
      throws IOException {
    if (fresh.collidesWith(old)) {
      throw new IOException(
          target
              + ": the new database's files would have the same names as the old database's (ids "
              + fresh.id()
              + " and "
              + old.id()
              + "); choose another target");
    }
  }

  /** The files listed in the manifest of a shard being replaced; no others are ever deleted. */
  private static Set<String> oldNames(
      Path target, ListedFiles old, String shard, Consumer<String> warnings) throws IOException {
    if (!Files.exists(target.resolve(shard), LinkOption.NOFOLLOW_LINKS)) {
      return Set.of();
    }
    try {
      return old.names(target, shard);
    } catch (CorruptDatabaseException | UnsupportedFormatException | FileSystemException e) {
      warnings.accept(
          "the replaced manifest of "
              + shard
              + " could not be read, so the files of this shard were not deleted: "
              + e.getMessage());
      return Set.of();
    }
  }

  /** Writes the journal, forced to the device. */
  void writeJournal() throws IOException {
    Set<String> all = new LinkedHashSet<>(names);
    all.addAll(oldNames);
    byte[] lines = (String.join("\n", all) + "\n").getBytes(StandardCharsets.UTF_8);
    DurableFiles.write(from.resolve(WorkDirectory.JOURNAL), lines);
    DurableFiles.force(from);
  }

  /**
   * Moves the files in, the manifest at the root last. If that fails, the old database remains, and
   * what was moved in is deleted.
   *
   * @param beforeSwitch called before the manifest is renamed
   */
  void run(Step beforeSwitch) throws IOException {
    List<Path> made = new ArrayList<>();
    try {
      for (String shard : shards) {
        enter(target.resolve(shard), made);
      }
      for (String name : names) {
        Path to = target.resolve(name);
        boolean there = Files.exists(to, LinkOption.NOFOLLOW_LINKS);
        Workspace.move(from.resolve(name), to);
        if (!there) {
          made.add(to);
        }
      }
      for (String shard : shards) {
        DurableFiles.force(target.resolve(shard));
      }
      DurableFiles.force(target);
      beforeSwitch.run();
      Workspace.move(from.resolve(Manifest.FILE_NAME), target.resolve(Manifest.FILE_NAME));
    } catch (IOException | RuntimeException | Error e) {
      undo(made, e);
      throw e;
    }
  }

  /** Creates the directory of a shard unless it is there, because the shard did not change. */
  private static void enter(Path shard, List<Path> made) throws IOException {
    try {
      Files.createDirectory(shard);
      made.add(shard);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(shard, LinkOption.NOFOLLOW_LINKS)) {
        throw new FileAlreadyExistsException(
            shard.toString(), null, "is in the way of a shard's directory; move it away");
      }
    }
  }

  private static void undo(List<Path> made, Throwable failure) {
    Collections.reverse(made); // files before their directories
    for (Path each : made) {
      try {
        Files.deleteIfExists(each);
      } catch (DirectoryNotEmptyException holdsOthers) {
        // somebody else's files
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
  }

  /** The steps that delete the old files after the switch, each independent of the others. */
  List<Step> cleanup() {
    List<Step> steps = new ArrayList<>();
    for (String name : oldNames) {
      steps.add(() -> deleteFile(target, name));
    }
    for (String shard : oldShards) {
      steps.add(() -> deleteIfEmpty(target.resolve(shard)));
    }
    return steps;
  }

  /**
   * Removes the files of a build killed while replacing a database: those already moved in, or not
   * yet deleted.
   *
   * @param directory the build's directory, which holds the journal
   * @param target the directory whose files were being replaced
   */
  static void recover(Path directory, Path target) throws IOException {
    Path journal = directory.resolve(WorkDirectory.JOURNAL);
    if (!directory.equals(target.resolve(WorkDirectory.REPLACING))
        || !Files.isRegularFile(journal, LinkOption.NOFOLLOW_LINKS)
        || Files.size(journal) > MAX_JOURNAL_BYTES) {
      return;
    }
    ListedFiles current;
    try {
      current = ListedFiles.read(target);
    } catch (IOException unknown) {
      return; // unknown which of them are needed
    }
    Set<String> left = new LinkedHashSet<>();
    try (BufferedReader lines = Files.newBufferedReader(journal, StandardCharsets.ISO_8859_1)) {
      for (String name = lines.readLine(); name != null; name = lines.readLine()) {
        if (ListedFiles.isName(name) && !current.holds(name)) {
          String unused = name;
          ignoringFailure(() -> deleteFile(target, unused));
          left.add(ListedFiles.shard(name));
        }
      }
    }
    left.remove("");
    for (String shard : left) {
      ignoringFailure(() -> deleteIfEmpty(target.resolve(shard)));
    }
  }

  private static void ignoringFailure(Step step) {
    try {
      step.run();
    } catch (IOException ignored) {
      // what stays is unused and harmless
    }
  }

  /** Deletes a file or a link, but not a directory, and nothing in a directory that is a link. */
  private static void deleteFile(Path target, String name) throws IOException {
    String shard = ListedFiles.shard(name);
    Path file = target.resolve(name);
    boolean reached =
        shard.isEmpty() || Files.isDirectory(target.resolve(shard), LinkOption.NOFOLLOW_LINKS);
    if (reached && !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(file);
    }
  }

  private static void deleteIfEmpty(Path directory) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      DurableFiles.deleteIfEmpty(directory); // a shard whose manifest could not be read keeps files
    }
  }
}
