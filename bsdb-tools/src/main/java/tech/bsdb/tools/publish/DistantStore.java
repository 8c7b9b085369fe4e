package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.VersionName;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;
import tech.bsdb.transfer.Consignment;

/**
 * A store of versions on a distant directory. A version that is not complete has a file {@code
 * .pushing}, which says by whom it was begun. Thread-safe, but one thread at a time writes.
 *
 * <p>Failures of the file system are {@link InputException}s, meant for users.
 */
public final class DistantStore {
  /** Marks a version that is not complete. */
  public static final String MARKER = ".pushing";

  private static final String POINTER = Pointer.FILE;
  private static final int MOST_BYTES = 1 << 24;
  private static final Duration STALE = Duration.ofDays(1);

  private final DistantDirectory store;
  private final Attempts attempts;
  private final List<String> warnings = new ArrayList<>();

  /** Creates a store; reads nothing. */
  public DistantStore(DistantDirectory store, Attempts attempts) {
    this.store = store;
    this.attempts = attempts;
  }

  /** What did not go well although a version is current. */
  public synchronized List<String> warnings() {
    return List.copyOf(warnings);
  }

  private synchronized void warn(String what) {
    warnings.add(what);
  }

  // What is there

  /**
   * Lists the directory; empty if it does not exist.
   *
   * @throws FileAlreadyExistsException if it holds anything else than a store
   */
  public List<Entry> entries() throws IOException {
    List<Entry> entries;
    try {
      entries = attempts.ask("", () -> store.list(""));
    } catch (NotDirectoryException e) {
      throw refused("", "is not a directory; choose another directory for the store");
    } catch (NoSuchFileException notYet) {
      entries = List.of();
    }
    if (has(entries, Consignment.MANIFEST)) {
      throw refused("", "is a single database, not a store; choose another directory");
    }
    if (has(entries, POINTER)) {
      return entries;
    }
    String lost = null;
    boolean whole = false;
    for (Entry entry : entries) {
      if (entry.name().startsWith(".") || entry.name().equals("lost+found")) {
        continue;
      }
      boolean version = isVersion(entry) && !Consignment.isShardDirectory(entry.name());
      if (version && isOurs(entry)) {
        whole = true;
      } else if (version && isRemainder(entry.name())) {
        lost = entry.name();
      } else {
        throw noStore(entry.name());
      }
    }
    if (lost != null && !whole) {
      throw noStore(lost);
    }
    refuseInside(POINTER, "another store; to push a version of that name, use --version");
    refuseInside(Consignment.MANIFEST, "a database; choose another directory");
    return entries;
  }

  private FileAlreadyExistsException noStore(String other) {
    return refused(
        "",
        ("is not a store: it has no %s and contains other files, such as %s; choose another"
                + " directory")
            .formatted(POINTER, other));
  }

  private static boolean has(List<Entry> entries, String name) {
    return entries.stream().anyMatch(entry -> entry.name().equals(name) && !entry.directory());
  }

  static boolean isVersion(Entry entry) {
    return entry.directory() && VersionName.isValid(entry.name());
  }

  private boolean isOurs(Entry entry) throws IOException {
    List<Entry> below = listed(entry.name());
    return has(below, Consignment.MANIFEST) || has(below, MARKER);
  }

  /** Whether a directory has files of a database or of shards, and no others. */
  private boolean isRemainder(String version) throws IOException {
    List<Entry> below = listed(version);
    boolean files = !below.isEmpty();
    for (Entry entry : below) {
      files &= isDatabaseFile(entry) || isShard(version, entry);
    }
    return files;
  }

  private boolean isShard(String version, Entry entry) throws IOException {
    return entry.directory()
        && Consignment.isShardDirectory(entry.name())
        && listed(version + "/" + entry.name()).stream().allMatch(DistantStore::isDatabaseFile);
  }

  private void refuseInside(String file, String what) throws IOException {
    try (InputStream in = store.open("../" + file, 0)) {
      if (in.read() < 0) {
        return;
      }
    } catch (IOException notThere) {
      return;
    }
    throw refused("", "lies inside " + what);
  }

  private FileAlreadyExistsException refused(String file, String why) {
    return new FileAlreadyExistsException(store.location(file), null, why);
  }

  private List<Entry> listed(String directory) throws IOException {
    try {
      return attempts.ask(directory, () -> store.list(directory));
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }

  private byte @Nullable [] content(String file) throws IOException {
    try {
      return attempts.ask(
          file,
          () -> {
            try (InputStream in = store.open(file, 0)) {
              return in.readNBytes(MOST_BYTES);
            }
          });
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  /** Which version is current; null if none is. */
  public @Nullable Pointer pointer() throws IOException {
    byte[] bytes = content(POINTER);
    return bytes == null ? null : Pointer.decode(bytes);
  }

  /** The id of a version's database; null if it has no readable manifest. */
  public @Nullable String databaseId(String version) throws IOException {
    byte[] manifest = content(version + "/" + Consignment.MANIFEST);
    return manifest == null ? null : Consignment.databaseId(manifest);
  }

  /** Whether a version was completed with this database; it may have lost files since. */
  boolean holds(String version, String databaseId) throws IOException {
    return databaseId.equals(databaseId(version))
        && (marker(version) == null || isNamed(pointer(), version));
  }

  /** What the marker of a version that is not complete says; null if it has none. */
  public @Nullable String marker(String version) throws IOException {
    byte[] marker = content(version + "/" + MARKER);
    return marker == null ? null : new String(marker, UTF_8).strip();
  }

  /** The names of versions that are not complete. */
  public List<String> unfinished(List<Entry> entries) throws IOException {
    Pointer now = pointer();
    List<String> unfinished = new ArrayList<>();
    for (Entry entry : entries) {
      if (isVersion(entry) && !isNamed(now, entry.name()) && marker(entry.name()) != null) {
        unfinished.add(entry.name());
      }
    }
    return unfinished;
  }

  /** The names of versions that have neither a marker nor a manifest, but shards. */
  public List<String> abandoned(List<Entry> entries) throws IOException {
    Pointer now = pointer();
    List<String> abandoned = new ArrayList<>();
    for (Entry entry : entries) {
      if (isVersion(entry) && !isNamed(now, entry.name())) {
        List<Entry> below = listed(entry.name());
        boolean shards =
            below.stream()
                .anyMatch(each -> each.directory() && Consignment.isShardDirectory(each.name()));
        if (shards && !has(below, MARKER) && !has(below, Consignment.MANIFEST)) {
          abandoned.add(entry.name());
        }
      }
    }
    return abandoned;
  }

  private static boolean isNamed(@Nullable Pointer pointer, String version) {
    return pointer != null && pointer.names(version);
  }

  /**
   * Checks that a version may be written under a name.
   *
   * @param marker what its marker says if this is to continue it
   * @return whether there is such a version, to be continued
   * @throws FileAlreadyExistsException if there is another one of that name
   */
  public boolean continues(List<Entry> entries, String version, String marker) throws IOException {
    if (entries.stream().noneMatch(entry -> entry.name().equals(version))) {
      return false;
    }
    String found = isNamed(pointer(), version) ? null : marker(version);
    if (found == null) {
      throw refused(
          version, "a version with this name already exists; choose another with --version");
    }
    requireSame(version, marker, found);
    return true;
  }

  private void requireSame(String version, String marker, String found)
      throws FileAlreadyExistsException {
    if (!marker.equals(found)) {
      String by = Pattern.matches("[0-9a-f]{32}", found) ? "a push of database " + found : found;
      throw refused(
          version, by + " has begun a version with this name; choose another with --version");
    }
  }

  /**
   * Fails unless a version still is marked as begun by this.
   *
   * @param marker what the marker says; if it is the id of the database, another push of that
   *     database may have completed the version
   */
  public void requireMarker(String version, String marker) throws IOException {
    String found = marker(version);
    if (found != null) {
      requireSame(version, marker, found);
    } else if (!marker.equals(databaseId(version))) {
      throw refused(version, "was removed or replaced while it was sent; push again");
    }
  }

  /** A name for a new version: the time. */
  public static String freeName(List<Entry> entries) {
    String time = VersionName.ofTime(Instant.now());
    String name = time;
    for (int i = 2; isTaken(entries, name); i++) {
      name = time + "-" + i;
    }
    return name;
  }

  private static boolean isTaken(List<Entry> entries, String name) {
    return entries.stream().anyMatch(entry -> entry.name().equals(name));
  }

  /** The lengths of the files in a version, by their paths below it. */
  public Map<String, Long> lengths(String version) throws IOException {
    Map<String, Long> lengths = new HashMap<>();
    files(version).forEach((file, entry) -> lengths.put(file, entry.length()));
    return lengths;
  }

  /** The files in a version and in its shards, by their paths below it. */
  Map<String, Entry> files(String version) throws IOException {
    Map<String, Entry> files = new HashMap<>();
    for (Entry entry : listed(version)) {
      if (!entry.directory()) {
        files.put(entry.name(), entry);
      } else if (Consignment.isShardDirectory(entry.name())) {
        for (Entry below : listed(version + "/" + entry.name())) {
          files.put(entry.name() + "/" + below.name(), below);
        }
      }
    }
    return files;
  }

  // Writing

  /**
   * Marks a version as not complete; to be done before anything else of it is written. Of several
   * that begin a version of the same name, one succeeds ({@link DistantDirectory#create}).
   *
   * @throws FileAlreadyExistsException if another was first
   */
  public void mark(String version, String marker) throws IOException {
    String file = version + "/" + MARKER;
    byte[] content = (marker + "\n").getBytes(UTF_8);
    if (!attempts.ask(file, () -> store.create(file, content))) {
      requireMarker(version, marker);
      return;
    }
    String complete = databaseId(version);
    if (complete != null && !marker.equals(complete)) {
      delete(file);
      throw refused(
          version,
          "another push made database %s the version of this name; choose another with --version"
              .formatted(complete));
    }
  }

  /** Writes a small file. */
  public void write(String file, byte[] content) throws IOException {
    attempts.run(file, () -> store.write(file, new ByteArrayInputStream(content)));
  }

  /**
   * Removes what is in a version besides the given files and what cannot be a database's.
   *
   * @param files their paths below it
   */
  public void retain(String version, Set<String> files) throws IOException {
    for (Entry entry : listed(version)) {
      String name = entry.name();
      if (!entry.directory()) {
        if (!files.contains(name) && isDatabaseFile(entry)) {
          delete(version + "/" + name);
        }
      } else if (Consignment.isShardDirectory(name)) {
        for (Entry below : listed(version + "/" + name)) {
          if (!files.contains(name + "/" + below.name()) && isDatabaseFile(below)) {
            delete(version + "/" + name + "/" + below.name());
          }
        }
        if (files.stream().noneMatch(file -> file.startsWith(name + "/"))
            && listed(version + "/" + name).isEmpty()) {
          delete(version + "/" + name);
        }
      }
    }
  }

  private void delete(String file) throws IOException {
    attempts.run(file, () -> store.delete(file));
  }

  /**
   * Fails unless files of a version have arrived.
   *
   * @param expected their lengths, by their paths below it
   */
  public void requireArrived(String version, Map<String, Long> expected) throws IOException {
    Map<String, Long> there = lengths(version);
    for (Map.Entry<String, Long> file : expected.entrySet()) {
      long length = there.getOrDefault(file.getKey(), -1L);
      if (length != file.getValue()) {
        throw new InputException(
            "%s: was sent with %s bytes, but %s; does another push write to this store?"
                .formatted(
                    store.location(version + "/" + file.getKey()),
                    file.getValue(),
                    length < 0 ? "is not there" : "has " + length));
      }
    }
  }

  /**
   * Makes a version current, and removes its marker. If the answer of the file system is lost, the
   * pointer says whether it took place.
   *
   * @return the pointer of before, or null
   */
  public @Nullable Pointer goLive(String version) throws IOException {
    Pointer now = pointer();
    byte[] next = (now == null ? Pointer.to(version) : now.pushed(version)).encode();
    try {
      attempts.run(POINTER, () -> store.replace(POINTER, next));
    } catch (IOException e) {
      if (!isCurrent(version)) {
        throw e;
      }
    }
    unmark(version);
    return now;
  }

  /** Replaces the pointer. */
  void point(Pointer next) throws IOException {
    attempts.run(POINTER, () -> store.replace(POINTER, next.encode()));
  }

  /** Removes the marker of a version that is current; a failure becomes a warning. */
  public void unmark(String version) {
    String file = version + "/" + MARKER;
    try {
      attempts.run(file, () -> store.delete(file));
    } catch (IOException e) {
      warn("version " + version + " is current, but a later step failed: " + e.getMessage());
    }
  }

  private boolean isCurrent(String version) {
    try {
      Pointer now = pointer();
      return now != null && now.current().equals(version);
    } catch (IOException unknown) {
      return false;
    }
  }

  // Old versions

  private record Old(String name, Instant written) {}

  /**
   * Removes the oldest versions, but never the current one or the one that a rollback returns to,
   * and versions that others began more than a day ago and did not complete: with a marker, or
   * without a manifest.
   *
   * @param version the version that must be current; otherwise nothing is removed
   * @param most how many to keep besides the current one
   * @return the names of those removed
   */
  public List<String> keep(String version, int most) throws IOException {
    Pointer now = pointer();
    if (now == null || !now.current().equals(version)) {
      return List.of(); // another push or a rollback follows its own rules
    }
    List<Old> complete = new ArrayList<>();
    List<Old> begun = new ArrayList<>();
    for (Entry entry : listed("")) {
      if (!isVersion(entry) || entry.name().equals(version)) {
        continue;
      }
      List<Entry> below = listed(entry.name());
      boolean named = now.chain().contains(entry.name());
      if (!named && !has(below, MARKER) && !has(below, Consignment.MANIFEST)) {
        files(entry.name()).values().stream()
            .map(Entry::modified)
            .max(Comparator.naturalOrder())
            .ifPresent(last -> begun.add(new Old(entry.name(), last)));
        continue;
      }
      for (Entry file : below) {
        if (file.name().equals(MARKER) && !named) {
          begun.add(new Old(entry.name(), file.modified()));
        } else if (file.name().equals(Consignment.MANIFEST) && (named || !has(below, MARKER))) {
          complete.add(new Old(entry.name(), file.modified()));
        }
      }
    }
    complete.sort(Comparator.comparing(Old::written).thenComparing(Old::name, VersionName.NATURAL));
    List<String> names = complete.stream().map(Old::name).toList();
    String back =
        now.chain().stream()
            .filter(names::contains)
            .findFirst()
            .or(
                () ->
                    names.stream()
                        .filter(name -> VersionName.NATURAL.compare(name, version) < 0)
                        .max(VersionName.NATURAL))
            .orElse("");
    complete.removeIf(old -> old.name().equals(back));
    int others = Math.max(0, back.isEmpty() ? most : most - 1);
    List<String> removed = new ArrayList<>();
    for (Old old : complete.subList(0, Math.max(0, complete.size() - others))) {
      if (remove(old.name())) {
        removed.add(old.name());
      }
    }
    for (Old old : begun) {
      if (old.written().plus(STALE).isBefore(Instant.now()) && remove(old.name())) {
        warn("removed " + store.location(old.name()) + ", which a push began and did not complete");
      }
    }
    return removed;
  }

  /**
   * Removes a version unless it holds other files; the manifest first, so it never opens half.
   *
   * @return whether it was removed; if not, there is a warning
   */
  public boolean remove(String version) throws IOException {
    for (Entry entry : listed(version)) {
      boolean ours =
          isShard(version, entry)
              || isDatabaseFile(entry)
              || (!entry.directory() && entry.name().equals(MARKER));
      if (!ours) {
        warn(
            store.location(version)
                + " contains files that are not the database's, so it was kept; remove it by hand");
        return false;
      }
    }
    String manifest = version + "/" + Consignment.MANIFEST;
    attempts.run(manifest, () -> store.delete(manifest));
    attempts.run(version, () -> store.delete(version));
    return true;
  }

  private static boolean isDatabaseFile(Entry entry) {
    return !entry.directory() && Consignment.isFileName(entry.name());
  }
}
