package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.transfer.Origin;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * A directory of versions of a database, one of them current.
 *
 * <pre>
 * STORE/CURRENT              the current version's name, then the versions to roll back to
 * STORE/20261121T151400Z/    a version: a plain database or set of shards
 * STORE/.lock                and other hidden names: used by publishing, never versions
 * </pre>
 *
 * <p>Each kind of store, on a local disk or elsewhere, lists what is there, and replaces the
 * pointer in one place; everything that follows from that is here. Thread-safe; holds no open
 * files. Changes are safe alongside those of other processes.
 */
public abstract class Store {
  /** For the kinds of stores. */
  protected Store() {}

  /** Whether a directory is a store with a current version, that is, contains a file CURRENT. */
  public static boolean isStore(Path directory) {
    Path pointer = directory.resolve(Pointer.FILE);
    return Files.isRegularFile(pointer) || Files.isSymbolicLink(pointer);
  }

  /**
   * Fails if a directory holds versions, and neither a file CURRENT nor a database itself.
   *
   * @throws NotDirectoryException if it does; the message says how to make a version current
   */
  public static void requireCurrent(Path directory) throws IOException {
    if (!isStore(directory)
        && !Directories.isDatabase(directory)
        && LocalStore.holdsVersions(directory)) {
      throw new NotDirectoryException(
          directory
              + " is not a store with a current version: it has no "
              + Pointer.FILE
              + "; to make a version current: bsdb rollback "
              + directory
              + " VERSION");
    }
  }

  /**
   * Opens a local store. A directory without a current version is accepted if it contains only
   * databases.
   *
   * @throws NoSuchFileException if the directory does not exist
   * @throws NotDirectoryException if it is not a store
   */
  public static Store open(Path directory) throws IOException {
    return LocalStore.opened(directory);
  }

  /**
   * Reads what an origin offers now: the current version of its store, or its database or set of
   * shards. Little is read.
   *
   * @param checkOpen called often; throws to cancel
   * @throws NoSuchFileException if the origin is neither a store nor a database
   * @throws IllegalArgumentException if it lacks the shards of the options
   */
  public static Shipment offered(Origin origin, TransferOptions options, Runnable checkOpen)
      throws IOException {
    Pointer pointer;
    try {
      byte[] read = Shipment.content(origin, Pointer.FILE, Pointer.MAX_BYTES, options, checkOpen);
      pointer = Pointer.decode(read);
    } catch (NoSuchFileException noStore) {
      try {
        return Shipment.read(origin, "", options, checkOpen);
      } catch (NoSuchFileException neither) {
        NoSuchFileException nothing =
            new NoSuchFileException(
                origin.location(""),
                null,
                "is neither a store nor a database: it has no CURRENT and no manifest.bsdb");
        nothing.addSuppressed(neither);
        throw nothing;
      }
    }
    if (pointer == null) {
      throw new IOException(origin.location(Pointer.FILE) + ": names no version");
    }
    return Shipment.read(origin, pointer.current(), options, checkOpen);
  }

  /** Where the store is, as people write it. */
  public final String location() {
    return location("");
  }

  /** Where a version or a file is, by its path below the store; {@code ""} is the store itself. */
  protected abstract String location(String path);

  /** Which version is current, and which were before; null if none is named. */
  public abstract @Nullable Pointer pointer() throws IOException;

  /** The name of the current version, or null if none is named. */
  public final @Nullable String current() throws IOException {
    Pointer pointer = pointer();
    return pointer == null ? null : pointer.current();
  }

  /**
   * The id of the database that was pulled last and became current, or null if none was, as in each
   * store that is not local. After a rollback it is not that of the current version.
   */
  public @Nullable String pulled() throws IOException {
    return null;
  }

  /**
   * The versions in natural name order: v9 before v10.
   *
   * @throws NoSuchFileException if there is no store
   */
  public abstract List<StoredVersion> versions() throws IOException;

  /**
   * Makes another version current. The version is checked first: one with a damaged file header,
   * footer or length is rejected; in remote stores, one with missing files or files of other
   * lengths.
   *
   * @param version the version's name, or null for the previously current version; if that is
   *     unknown, the version whose name precedes the current one's
   * @return the name of the new current version
   * @throws NoSuchFileException if the version does not exist, or there is none to roll back to
   * @throws tech.bsdb.error.CorruptDatabaseException if the version is damaged; the current version
   *     is then unchanged
   * @throws java.io.InterruptedIOException if the thread is interrupted, and stays so; the current
   *     version is then unchanged
   */
  public final String rollback(@Nullable String version) throws IOException {
    if (version != null) {
      String unused = VersionName.checked(version);
    }
    return switchTo(version);
  }

  /** Makes another version current; where there is a lock for that, while it is held. */
  protected String switchTo(@Nullable String version) throws IOException {
    List<String> names = names();
    Pointer now = pointer();
    String target = version == null ? previous(now, names) : version;
    if (!isThere(target)) {
      throw new NoSuchFileException(
          location(target), null, "no such version; to list them: bsdb versions " + location());
    }
    prepare(target);
    if (now == null || (version == null && !now.chain().contains(target))) {
      point(Pointer.to(target));
    } else if (!now.current().equals(target)) {
      point(now.backTo(target));
    }
    return target;
  }

  private String previous(@Nullable Pointer now, List<String> names) throws NoSuchFileException {
    if (now == null) {
      throw new NoSuchFileException(
          location(Pointer.FILE),
          null,
          "names no version, so there is nothing to roll back to; choose a version: bsdb rollback "
              + location()
              + " VERSION");
    }
    return rollbackTarget(now, names)
        .orElseThrow(
            () ->
                new NoSuchFileException(
                    location(), null, "there is no version before " + now.current()));
  }

  /**
   * The names of the versions that a rollback may choose.
   *
   * @throws NoSuchFileException if there is no store
   */
  protected abstract List<String> names() throws IOException;

  /** Whether there is a version of a name, damaged or not. */
  protected abstract boolean isThere(String version) throws IOException;

  /** Fails unless a version can become current. */
  protected abstract void prepare(String version) throws IOException;

  /** Replaces the pointer; only a version that goes live does this, too. */
  protected abstract void point(Pointer next) throws IOException;

  /**
   * The version that a rollback makes current: the most recent previous one that is there;
   * otherwise the one whose name precedes the current one's.
   *
   * @param names the names of those that are there
   */
  protected static Optional<String> rollbackTarget(Pointer now, List<String> names) {
    return now.chain().stream()
        .filter(names::contains)
        .findFirst()
        .or(
            () ->
                names.stream()
                    .filter(name -> VersionName.NATURAL.compare(name, now.current()) < 0)
                    .max(VersionName.NATURAL));
  }

  /**
   * The names of the versions to remove if only some are to stay, oldest first.
   *
   * @param old how many to keep besides the current one
   * @param back the version that a rollback returns to, which always stays
   * @param others all versions but the current one, in natural order of their names, and when each
   *     was written
   */
  protected static List<String> beyond(
      int old, Optional<String> back, Map<String, Instant> others) {
    List<Map.Entry<String, Instant>> oldest = new ArrayList<>(others.entrySet());
    oldest.removeIf(other -> other.getKey().equals(back.orElse("")));
    oldest.sort(Map.Entry.comparingByValue()); // stable: equal ages keep name order
    int most = Math.max(0, back.isEmpty() ? old : old - 1);
    return oldest.subList(0, Math.max(0, oldest.size() - most)).stream()
        .map(Map.Entry::getKey)
        .toList();
  }
}
