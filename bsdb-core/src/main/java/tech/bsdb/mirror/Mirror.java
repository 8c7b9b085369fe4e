package tech.bsdb.mirror;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.ArrivingPages;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.Elsewhere;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.ShardSet;
import tech.bsdb.mirror.Small.Manifested;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;

/**
 * The small files of one database or set in the cache: its manifests, and the files that lookups
 * need whole ({@link DatabaseDirectory#isHere}). Each is verified when it arrives and whenever it
 * is to be used; one that is damaged or cut short in the cache is brought again.
 */
final class Mirror implements Elsewhere {
  private static final int CHUNK = 64 * Page.SIZE;

  private final RangeOrigin origin;
  private final Small small;
  private final CacheDirectory cache;
  private final Offer offer;
  private final Path directory;

  /**
   * Creates the mirror.
   *
   * @param directory its directory in the cache, {@linkplain CacheDirectory#hold held}
   */
  Mirror(
      RangeOrigin origin,
      RemoteOptions options,
      CacheDirectory cache,
      Offer offer,
      Path directory) {
    this.origin = origin;
    this.small = new Small(origin, options);
    this.cache = cache;
    this.offer = offer;
    this.directory = directory;
  }

  /** The path below the origin of a file, by the path that it has here. */
  String file(Path path) {
    return offer.file(directory.relativize(path).toString().replace('\\', '/'));
  }

  @Override
  public String location(Path path) {
    return origin.location(file(path));
  }

  /**
   * Brings what is missing.
   *
   * @param files whether to bring other files than manifests
   */
  void bring(boolean files) throws IOException {
    Manifested root = offer.manifest();
    keep(directory.resolve(Manifest.FILE_NAME), root.bytes());
    List<Parallel.Task> tasks = new ArrayList<>();
    List<Parallel.Task> manifests = new ArrayList<>();
    try {
      if (!root.stated().isSet()) {
        addFiles(directory, root, tasks);
      } else {
        for (ShardSet.Shard shard : root.stated().set().heldShards()) {
          Path of = directory.resolve(shard.directoryName());
          manifests.add(() -> addFiles(of, shard(of, shard), tasks));
        }
      }
    } catch (CorruptDatabaseException e) {
      throw e.at(location(directory.resolve(Manifest.FILE_NAME)));
    } catch (UnsupportedFormatException e) {
      throw e.at(location(directory.resolve(Manifest.FILE_NAME)));
    }
    Parallel.run(manifests);
    if (files) {
      Parallel.run(tasks);
    }
  }

  private void addFiles(Path of, Manifested manifest, List<Parallel.Task> tasks)
      throws IOException {
    DatabaseDirectory database = DatabaseDirectory.of(of, this, manifest.stated());
    synchronized (tasks) {
      for (FileEntry entry : database.manifest().files()) {
        if (database.isHere(entry)) {
          tasks.add(() -> bring(database, entry, manifest.bytes()));
        }
      }
    }
  }

  /** The manifest of a shard, from the cache or from the origin. */
  private Manifested shard(Path of, ShardSet.Shard shard) throws IOException {
    Path file = of.resolve(Manifest.FILE_NAME);
    Manifested kept = kept(file);
    if (kept != null && kept.stated().id().equals(shard.id())) {
      return kept;
    }
    Manifested brought = manifest(file);
    if (!brought.stated().id().equals(shard.id())) {
      throw new CorruptDatabaseException(
              file,
              16,
              "database id " + shard.id() + ", as the manifest of the set says",
              "database id " + brought.stated().id())
          .at(location(file));
    }
    keep(file, brought.bytes());
    return brought;
  }

  private Manifested manifest(Path file) throws IOException {
    try {
      return small.manifest(file(file));
    } catch (NoSuchFileException | AccessDeniedException e) {
      throw new GoneException(e);
    }
  }

  private static @Nullable Manifested kept(Path file) throws IOException {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          || Files.size(file) > ManifestFile.MAX_BYTES) {
        return null;
      }
      byte[] bytes = Files.readAllBytes(file);
      return new Manifested(bytes, ManifestFile.decode(file, bytes));
    } catch (NoSuchFileException | CorruptDatabaseException | UnsupportedFormatException e) {
      return null;
    }
  }

  /** Writes a manifest, unless it is there. */
  private void keep(Path file, byte[] bytes) throws IOException {
    Manifested kept = kept(file);
    if (kept == null || !Arrays.equals(kept.bytes(), bytes)) {
      Path arriving = cache.arriving();
      try {
        Files.write(arriving, bytes);
        replace(arriving, file);
      } catch (FileSystemException e) {
        throw e;
      } catch (IOException e) { // a full disk, which names no file
        throw (FileSystemException)
            new FileSystemException(arriving.toString(), null, e.getMessage()).initCause(e);
      } finally {
        Files.deleteIfExists(arriving);
      }
    }
  }

  private void bring(DatabaseDirectory database, FileEntry entry, byte[] manifest)
      throws IOException {
    Path file = database.file(entry);
    if (isGood(database, entry, file)) {
      return;
    }
    Path arriving = cache.arriving();
    try {
      bring(file, entry.name(database.id()), manifest, arriving);
      replace(arriving, file);
    } finally {
      Files.deleteIfExists(arriving);
    }
  }

  private void bring(Path file, String name, byte[] manifest, Path target) throws IOException {
    try {
      small.bring(file(file), manifest, name, target);
    } catch (NoSuchFileException | AccessDeniedException e) {
      throw new GoneException(e);
    } catch (IOException e) {
      if (e.getCause() != null && e.getCause().getCause() instanceof CorruptDatabaseException d) {
        throw d.at(location(file)); // at the origin: each attempt brought it
      }
      throw e;
    }
  }

  /** Reports a file that the origin lacks or denies, although a manifest names it. */
  static final class GoneException extends IOException {
    private static final long serialVersionUID = 1L;
    private final FileSystemException missing;

    GoneException(FileSystemException missing) {
      super(missing);
      this.missing = missing;
    }

    /** What the origin said. */
    FileSystemException missing() {
      return missing;
    }
  }

  /** Makes a file that arrived one of the cache, even in place of a directory. */
  private static void replace(Path arriving, Path file) throws IOException {
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      Files.delete(file);
    }
    try {
      CacheDirectory.take(arriving, file);
    } catch (FileAlreadyExistsException e) {
      Files.deleteIfExists(file);
      CacheDirectory.take(arriving, file);
    }
  }

  /** Whether a file is in the cache, whole and sound. */
  private boolean isGood(DatabaseDirectory database, FileEntry entry, Path file)
      throws IOException {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          || Files.size(file) != entry.length()) {
        return false;
      }
      verify(new ArrivingPages(file, entry, database.id()), file);
      return true;
    } catch (NoSuchFileException
        | EOFException
        | CorruptDatabaseException
        | UnsupportedFormatException e) {
      return false;
    }
  }

  private static void verify(ArrivingPages pages, Path file) throws IOException {
    byte[] page = new byte[Page.SIZE];
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), CHUNK)) {
      while (!pages.complete()) {
        if (in.readNBytes(page, 0, page.length) < page.length) {
          throw new EOFException(file.toString());
        }
        pages.accept(page, 0);
      }
    }
  }
}
