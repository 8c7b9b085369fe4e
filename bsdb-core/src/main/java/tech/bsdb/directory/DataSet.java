package tech.bsdb.directory;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryUse;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.ShardSet;
import tech.bsdb.io.Memory;
import tech.bsdb.io.PageCache;
import tech.bsdb.io.PageFill;

/**
 * What one directory holds: a database, or a set of shards or some of them, each of which is a
 * database in a directory of its own. All manifests have been read, and all files that are here
 * have the right length, header and footer. Immutable.
 *
 * @param path the directory
 * @param elsewhere where the files lie that are not here; null if all are here
 * @param id the id of the database or of the set
 * @param set the facts of the set, or null if this is a single database
 * @param setManifestBytes size of the set's own manifest in bytes, 0 for a single database
 * @param databases the single database, or the shards that are held, by number
 */
public record DataSet(
    Path path,
    @Nullable Elsewhere elsewhere,
    DatabaseId id,
    @Nullable ShardSet set,
    long setManifestBytes,
    List<DatabaseDirectory> databases) {
  private static final int ATTEMPTS = 100;

  /** Copies the list. */
  public DataSet {
    databases = List.copyOf(databases);
  }

  /**
   * Reads the manifests and checks the frame of every file. Takes the same time for every database
   * size.
   *
   * @throws NoSuchFileException if the directory or one of its files does not exist
   * @throws NotDirectoryException if it is not a directory or not a database
   * @throws CorruptDatabaseException if a file is damaged, cut short or from another database
   * @throws tech.bsdb.error.UnsupportedFormatException if this version does not read its format
   */
  public static DataSet open(Path path) throws IOException {
    return withOpened(path, List.of(), opened -> opened);
  }

  /** An operation on the files of a directory. */
  @FunctionalInterface
  public interface Use<T> {
    /** Uses the files. Closes what it opened if it fails. */
    T with(DataSet opened) throws IOException;
  }

  /**
   * Opens a directory like {@link #open} and uses its files. If a build replaces the database
   * meanwhile and a file is missing, starts again with the new database.
   *
   * @param trusted the keys of which one must have signed it, none to require no signature
   * @throws tech.bsdb.error.UntrustedException if none of them has
   */
  public static <T> T withOpened(Path path, List<PublicKey> trusted, Use<T> use)
      throws IOException {
    refuseUnlessDirectory(path);
    for (int attempt = 1; ; attempt++) {
      ManifestFile stated = DatabaseDirectory.manifest(path, trusted);
      try {
        DataSet opened = of(path, null, stated);
        opened.checkFrames();
        return use.with(opened);
      } catch (NoSuchFileException | FileNotFoundException e) {
        if (attempt == ATTEMPTS || stated.id().equals(readAgain(path, e).id())) {
          throw e;
        }
      }
    }
  }

  /**
   * Reads the manifests in a directory that has no other files but small ones.
   *
   * @param elsewhere where the others lie
   * @param frames whether to check the frames of the files that are here
   * @throws NoSuchFileException if one of the files is missing
   * @throws CorruptDatabaseException if one is damaged; the message names the location
   */
  public static DataSet mirror(Path path, Elsewhere elsewhere, boolean frames) throws IOException {
    try {
      DataSet opened = of(path, elsewhere, DatabaseDirectory.manifest(path));
      if (frames) {
        opened.checkFrames();
      }
      return opened;
    } catch (CorruptDatabaseException e) {
      throw e.at(elsewhere.location(e.file()));
    } catch (NotDirectoryException e) { // another process removed the manifest
      throw new NoSuchFileException(path.toString(), null, e.getMessage());
    }
  }

  private void checkFrames() throws IOException {
    for (DatabaseDirectory database : databases) {
      database.checkFrames();
    }
  }

  private static void refuseUnlessDirectory(Path path) throws IOException {
    if (!Files.exists(path)) {
      throw new NoSuchFileException(
          path.toString(), null, "no such directory; check the path, or build a database first");
    }
    if (!Files.isDirectory(path)) {
      throw new NotDirectoryException(path + " is not a directory; a bsdb database is one");
    }
  }

  /** Reads the manifest again after a file turned out to be missing. */
  private static ManifestFile readAgain(Path path, IOException missing) throws IOException {
    try {
      return DatabaseDirectory.manifest(path);
    } catch (NoSuchFileException | NotDirectoryException e) {
      NoSuchFileException removed =
          new NoSuchFileException(
              path.toString(), null, "the database was removed while it was being opened");
      removed.initCause(missing);
      throw removed;
    }
  }

  private static DataSet of(Path path, @Nullable Elsewhere elsewhere, ManifestFile stated)
      throws IOException {
    if (!stated.isSet()) {
      DatabaseDirectory database = DatabaseDirectory.of(path, elsewhere, stated);
      return new DataSet(path, elsewhere, database.id(), null, 0, List.of(database));
    }
    ShardSet set = stated.set();
    List<DatabaseDirectory> shards = new ArrayList<>();
    for (ShardSet.Shard shard : set.heldShards()) {
      DatabaseDirectory opened = shard(path, elsewhere, shard);
      requireMember(opened, shard, set.shards().size(), shards.isEmpty() ? opened : shards.get(0));
      shards.add(opened);
    }
    return new DataSet(path, elsewhere, stated.id(), set, stated.bytes(), shards);
  }

  private static DatabaseDirectory shard(
      Path path, @Nullable Elsewhere elsewhere, ShardSet.Shard shard) throws IOException {
    Path directory = path.resolve(shard.directoryName());
    try {
      ManifestFile stated = DatabaseDirectory.manifest(directory);
      if (stated.isSet()) {
        throw new CorruptDatabaseException(
            stated.path(), Page.SIZE, "the manifest of a shard", "that of a set of shards");
      }
      return DatabaseDirectory.of(directory, elsewhere, stated);
    } catch (NotDirectoryException e) { // perhaps because a build replaces the set
      throw new NoSuchFileException(
          directory.toString(),
          null,
          "missing, although the manifest of the set lists this shard: the set was not copied"
              + " whole, or the manifest is from another set");
    }
  }

  /** Fails unless a database is the shard that the set's manifest states, and of one kind. */
  private static void requireMember(
      DatabaseDirectory database, ShardSet.Shard shard, int count, DatabaseDirectory first)
      throws CorruptDatabaseException {
    Facts facts = database.facts();
    String bySet = "as the manifest of the set says";
    require(database, "database id " + shard.id(), "database id " + database.id(), bySet);
    require(
        database,
        "shard " + shard.number() + " of " + count,
        "shard " + facts.shard() + " of " + facts.shards(),
        bySet);
    require(database, shard.records() + " records", facts.records() + " records", bySet);
    require(database, kind(first.facts()), kind(facts), "as in shard " + first.facts().shard());
  }

  private static void require(DatabaseDirectory shard, String expected, String found, String why)
      throws CorruptDatabaseException {
    if (!expected.equals(found)) {
      throw new CorruptDatabaseException(
          shard.path().resolve(Manifest.FILE_NAME), Page.SIZE, expected + ", " + why, found);
    }
  }

  /** What all shards of a set have in common, because one lookup asks all of them alike. */
  private static String kind(Facts facts) {
    return "layout "
        + facts.layoutId()
        + ", index width "
        + facts.approximateWidth()
        + (facts.order() == null ? ", not ordered" : ", ordered")
        + ", values "
        + (facts.valueSchema() == null ? "without schema" : facts.valueSchema())
        + (facts.valueElements() == null ? "" : ", of " + facts.valueElements());
  }

  /** Where it lies, as people write it: the directory, or a location elsewhere. */
  public String location() {
    return location(path);
  }

  /** Where one of its directories or files lies, as people write it. */
  public String location(Path file) {
    return elsewhere == null ? file.toString() : elsewhere.location(file);
  }

  /** Whether this is a set of shards, whole or partial. */
  public boolean isSet() {
    return set != null;
  }

  /** The facts of the set if it is partial, otherwise null. */
  public @Nullable ShardSet partialSet() {
    return set == null || set.isWhole() ? null : set;
  }

  /** The facts of the first database; what one lookup relies on is the same for all. */
  public Facts facts() {
    return databases.get(0).facts();
  }

  /**
   * The single database.
   *
   * @throws IllegalStateException if this is a set of shards
   */
  public DatabaseDirectory single() {
    if (isSet()) {
      throw new IllegalStateException(path + " is a set of shards");
    }
    return databases.get(0);
  }

  /** A file of one of the databases. */
  public record Located(DatabaseDirectory database, FileEntry entry) {
    /** Its path. */
    public Path path() {
      return database.file(entry);
    }
  }

  /**
   * The files that are not here, and are read in ranges: those of the index, then those of the data
   * if they are wanted.
   */
  public List<PageFill.Part> ranged(boolean data) {
    List<PageFill.Part> index = new ArrayList<>();
    List<PageFill.Part> ofData = new ArrayList<>();
    for (Located file : files()) {
      FileEntry entry = file.entry();
      if (!file.database.isHere(entry)) {
        PageFill.Part part =
            new PageFill.Part(
                file.path(),
                entry.length(),
                file.database.pageCheck(entry),
                file.database.identity(entry));
        (entry.file().kind() == FileKind.DATA ? ofData : index).add(part);
      }
    }
    if (data) {
      index.addAll(ofData);
    }
    return index;
  }

  /** All files except the manifests. */
  public List<Located> files() {
    List<Located> files = new ArrayList<>();
    for (DatabaseDirectory database : databases) {
      database.manifest().files().forEach(entry -> files.add(new Located(database, entry)));
    }
    return files;
  }

  /** The number of records, as the manifests say. */
  public long records() {
    return databases.stream().mapToLong(each -> each.facts().records()).sum();
  }

  /** Whether the manifests have content hashes of all files. */
  public boolean hasContentHashes() {
    return files().stream().allMatch(file -> file.entry().sha256() != null);
  }

  /** Size of all files in bytes, except the manifests. */
  public long fileBytes() {
    return files().stream().mapToLong(file -> file.entry().length()).sum();
  }

  /** Size of all manifests in bytes. */
  public long manifestBytes() {
    return setManifestBytes + databases.stream().mapToLong(DatabaseDirectory::manifestBytes).sum();
  }

  /**
   * Reads all files into the page cache, into huge pages where the machine supports them.
   *
   * @param progress receives the number of bytes of each read
   * @return what is in memory afterwards
   * @throws IOException if the files do not fit in memory or cannot be read
   */
  public MemoryUse warm(LongConsumer progress) throws IOException {
    Memory.require(path, fileBytes(), "be read into the page cache");
    for (Located file : files()) {
      PageCache.read(file.path(), file.entry().length(), true, () -> false, progress);
    }
    return memoryUse();
  }

  /** Returns how much of the files is in the page cache, and how much of that in huge pages. */
  public MemoryUse memoryUse() throws IOException {
    MemoryUse all = MemoryUse.NONE;
    for (Located file : files()) {
      all = all.plus(PageCache.look(file.path(), file.entry().length()));
    }
    return all;
  }
}
