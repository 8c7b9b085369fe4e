package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.store.Delta;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.Store;
import tech.bsdb.store.StoredVersion;
import tech.bsdb.store.VersionName;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.DistantDirectory.Entry;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * A store on a distant directory. A version that is not complete has a file {@code .pushing}, which
 * says by whom it was begun. Thread-safe, but one thread at a time writes.
 *
 * <p>Failures of the file system are {@link InputException}s, meant for users.
 */
public final class DistantStore extends Store {
  /** Marks a version that is not complete. */
  public static final String MARKER = ".pushing";

  private static final String POINTER = Pointer.FILE;
  private static final int MOST_BYTES = 1 << 24;
  private static final Duration STALE = Duration.ofDays(1);
  private static final TransferOptions TRANSFER =
      TransferOptions.defaults().withAttempts(2, Duration.ofSeconds(1));

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

  @Override
  protected String location(String path) {
    return store.location(path);
  }

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
    return modified(entries, name) != null;
  }

  /** When a file was written; null if there is none of the name. */
  private static @Nullable Instant modified(List<Entry> entries, String name) {
    return entries.stream()
        .filter(entry -> entry.name().equals(name) && !entry.directory())
        .findFirst()
        .map(Entry::modified)
        .orElse(null);
  }

  private static boolean isVersion(Entry entry) {
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
    return new FileAlreadyExistsException(location(file), null, why);
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

  @Override
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
    String marker = text(version + "/" + MARKER);
    return marker == null ? null : marker.strip();
  }

  /** The content of a small file; null if there is none. */
  @Nullable String text(String file) throws IOException {
    byte[] content = content(file);
    return content == null ? null : new String(content, UTF_8);
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
    Set<String> taken = entries.stream().map(Entry::name).collect(Collectors.toSet());
    return VersionName.free(VersionName.ofTime(Instant.now()), taken::contains);
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

  // Versions

  /**
   * {@inheritDoc}
   *
   * <p>These are the versions that are complete.
   */
  @Override
  public List<StoredVersion> versions() throws IOException {
    String current = current();
    List<StoredVersion> versions = new ArrayList<>();
    complete().forEach((name, files) -> versions.add(version(name, name.equals(current), files)));
    return versions;
  }

  private StoredVersion version(String name, boolean current, Map<String, Entry> files) {
    long records = -1;
    try {
      records = sound(name, files).records();
    } catch (IOException damaged) {
      // it cannot be opened
    }
    long bytes = files.values().stream().mapToLong(Entry::length).sum();
    Instant modified = written(files).orElse(Instant.EPOCH);
    return new StoredVersion(name, Path.of(name), current, modified, records, bytes);
  }

  /** When the last of some files was written. */
  private static Optional<Instant> written(Map<String, Entry> files) {
    return files.values().stream().map(Entry::modified).max(Comparator.naturalOrder());
  }

  /** The files of the versions that are complete, by their names, in natural order of these. */
  private SortedMap<String, Map<String, Entry>> complete() throws IOException {
    SortedMap<String, Map<String, Entry>> versions = new TreeMap<>(VersionName.NATURAL);
    List<Entry> entries = entries();
    String current = current();
    List<String> unfinished = unfinished(entries);
    for (Entry entry : entries) {
      if (isVersion(entry) && !unfinished.contains(entry.name())) {
        Map<String, Entry> files = files(entry.name());
        if (entry.name().equals(current) || files.containsKey(Consignment.MANIFEST)) {
          versions.put(entry.name(), files);
        }
      }
    }
    if (versions.isEmpty() && current == null) {
      throw new NoSuchFileException(
          location(), null, "no store there; create one with: bsdb push DB " + location());
    }
    return versions;
  }

  /** Fails unless all files of a version are there, with the right lengths. */
  private Shipment sound(String version, Map<String, Entry> files) throws IOException {
    Shipment shipment = Shipment.read(store, version, TRANSFER, () -> {});
    Map<String, Long> expected = shipment.files(store, TRANSFER, () -> {});
    for (Map.Entry<String, Long> file : expected.entrySet()) {
      Entry found = files.get(file.getKey());
      if (found == null || found.length() != file.getValue()) {
        throw new FileSystemException(
            location(version + "/" + file.getKey()),
            null,
            (found == null ? "is missing" : "has " + found.length() + " bytes")
                + ", but should have "
                + file.getValue()
                + " bytes; push the database again");
      }
    }
    return shipment;
  }

  @Override
  protected List<String> names() throws IOException {
    return List.copyOf(complete().keySet());
  }

  @Override
  protected boolean isThere(String version) throws IOException {
    return !files(version).isEmpty();
  }

  @Override
  protected void prepare(String version) throws IOException {
    Shipment unused = sound(version, files(version));
  }

  @Override
  protected void point(Pointer next) throws IOException {
    attempts.run(POINTER, () -> store.replace(POINTER, next.encode()));
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
                    location(version + "/" + file.getKey()),
                    file.getValue(),
                    length < 0 ? "is not there" : "has " + length));
      }
    }
  }

  /** Looks at the version that is about to be replaced. */
  @FunctionalInterface
  public interface Predecessor {
    /** Fails if the version must not be replaced; null if there is none. */
    void check(@Nullable String current) throws IOException;
  }

  /** Makes a version current whatever is; see {@link #goLive(String, Predecessor)}. */
  public @Nullable Pointer goLive(String version) throws IOException {
    return goLive(version, any -> {});
  }

  /**
   * Makes a version current, and removes its marker. If the answer of the file system is lost, the
   * pointer says whether it took place.
   *
   * @param predecessor called right before; what it throws is thrown
   * @return the pointer of before, or null
   */
  public @Nullable Pointer goLive(String version, Predecessor predecessor) throws IOException {
    Pointer now = pointer();
    predecessor.check(now == null ? null : now.current());
    try {
      point(now == null ? Pointer.to(version) : now.pushed(version));
    } catch (IOException e) {
      if (!isCurrent(version)) {
        throw e;
      }
    }
    unmark(version);
    return now;
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
      return version.equals(current());
    } catch (IOException unknown) {
      return false;
    }
  }

  // Old versions

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
    SortedMap<String, Instant> complete = new TreeMap<>(VersionName.NATURAL);
    SortedMap<String, Instant> begun = new TreeMap<>(VersionName.NATURAL);
    for (Entry entry : listed("")) {
      String name = entry.name();
      if (!isVersion(entry) || name.equals(version)) {
        continue;
      }
      List<Entry> below = listed(name);
      boolean named = now.names(name);
      Instant marked = modified(below, MARKER);
      Instant manifest = modified(below, Consignment.MANIFEST);
      if (manifest != null && (named || marked == null)) {
        complete.put(name, manifest);
      } else if (marked != null && !named) {
        begun.put(name, marked);
      } else if (!named) {
        written(files(name)).ifPresent(last -> begun.put(name, last));
      }
    }
    Optional<String> back = rollbackTarget(now, List.copyOf(complete.keySet()));
    List<String> removed = new ArrayList<>();
    for (String name : beyond(most, back, complete)) {
      if (remove(name)) {
        removed.add(name);
      }
    }
    for (Map.Entry<String, Instant> old : begun.entrySet()) {
      if (old.getValue().plus(STALE).isBefore(Instant.now()) && remove(old.getKey())) {
        warn("removed " + location(old.getKey()) + ", which a push began and did not complete");
      }
    }
    try {
      removeStaleDeltas();
    } catch (IOException e) {
      warn("changes of removed versions were not removed: " + e.getMessage());
    }
    return removed;
  }

  /** Removes the changes that lead to versions that others removed. */
  private void removeStaleDeltas() throws IOException {
    for (Entry entry : listed(Delta.DIRECTORY)) {
      if (entry.directory() && listed(entry.name()).isEmpty()) {
        removeDelta(entry.name());
      }
    }
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
            location(version)
                + " contains files that are not the database's, so it was kept; remove it by hand");
        return false;
      }
    }
    try {
      removeDelta(version);
    } catch (IOException e) {
      warn("the changes that lead to " + version + " were not removed: " + e.getMessage());
    }
    delete(version + "/" + Consignment.MANIFEST);
    delete(version);
    return true;
  }

  /** Removes the changes that lead to a version, if there are any; their description first. */
  void removeDelta(String version) throws IOException {
    delete(Delta.directory(version) + "/" + Delta.FILE);
    delete(Delta.directory(version));
  }

  private static boolean isDatabaseFile(Entry entry) {
    return !entry.directory() && Consignment.isFileName(entry.name());
  }
}
