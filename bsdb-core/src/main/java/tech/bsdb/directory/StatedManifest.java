package tech.bsdb.directory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.ShardSet;

/**
 * The manifest that a directory holds, of a format version that is known, but of which kind is
 * open. Immutable.
 *
 * @param path the directory
 * @param id the id of the database or the set
 * @param manifest the manifest
 * @param bytes size of the manifest file in bytes
 */
public record StatedManifest(Path path, DatabaseId id, Manifest manifest, long bytes) {
  /** The largest manifest, reached with the maximum number of data files. */
  private static final int MAX_PAGES = 4096;

  /** The size of the largest manifest file in bytes. */
  public static final int MAX_BYTES = MAX_PAGES * Page.SIZE;

  private static final String FORMATS = "format " + Facts.FORMAT_1 + " or " + Facts.FORMAT_2;

  /** Reads and verifies the manifest file of a directory. */
  static StatedManifest read(Path path) throws IOException {
    Path file = path.resolve(Manifest.FILE_NAME);
    if (!Files.exists(file)) {
      throw new NotDirectoryException(
          path + " is not a bsdb database: it has no " + Manifest.FILE_NAME);
    }
    requireRegular(file);
    long length = Files.size(file);
    if (length > MAX_BYTES) {
      throw new CorruptDatabaseException(file, 0, "a manifest", length + " bytes");
    }
    return decode(path, Files.readAllBytes(file));
  }

  /**
   * Decodes and verifies the bytes of a manifest file.
   *
   * @param path the directory, for messages
   * @param bytes the whole file
   * @throws CorruptDatabaseException if the bytes are damaged
   * @throws UnsupportedFormatException if the format version is another
   */
  public static StatedManifest decode(Path path, byte[] bytes) throws IOException {
    Path file = path.resolve(Manifest.FILE_NAME);
    ManifestFile decoded = ManifestFile.decode(file, bytes);
    StatedManifest stated =
        new StatedManifest(path, decoded.id(), decoded.manifest(), bytes.length);
    return stated.readable(
        () -> {
          long format = Facts.format(stated.manifest);
          if (format != Facts.FORMAT_1 && format != Facts.FORMAT_2) {
            throw new UnsupportedFormatException(file, "format " + format, FORMATS);
          }
          if (format != Facts.FORMAT_1 && stated.isSet()) {
            throw new UnsupportedFormatException(
                file, "a set of shards of format " + format, "sets of format " + Facts.FORMAT_1);
          }
          return stated;
        });
  }

  /** Fails for what is there and not a file; to open a pipe would wait for ever. */
  static void requireRegular(Path file) throws CorruptDatabaseException {
    BasicFileAttributes found;
    try { // once, since a build may be replacing the database
      found = Files.readAttributes(file, BasicFileAttributes.class);
    } catch (IOException e) {
      return; // opening it tells more
    }
    if (!found.isRegularFile()) {
      throw new CorruptDatabaseException(
          file, 0, "a file", found.isDirectory() ? "a directory" : "a pipe, a socket or a device");
    }
  }

  /** The manifest's file. */
  Path file() {
    return path.resolve(Manifest.FILE_NAME);
  }

  /** Reads facts of the manifest. */
  @FunctionalInterface
  interface Reading<T> {
    T read() throws IOException;
  }

  /** Reads facts; those that are missing or out of range are damage. */
  <T> T readable(Reading<T> reading) throws IOException {
    try {
      return reading.read();
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new CorruptDatabaseException(
          file(), Page.SIZE, "a manifest of " + FORMATS, String.valueOf(e.getMessage()));
    }
  }

  /** Whether it is the manifest of a set of shards. */
  public boolean isSet() throws IOException {
    return readable(() -> ShardSet.isSet(manifest));
  }

  /** The facts of the set. */
  public ShardSet set() throws IOException {
    return readable(
        () -> {
          requireRouting();
          return ShardSet.of(manifest);
        });
  }

  /** The database that it describes; none of its files is looked at. */
  public DatabaseDirectory database() throws IOException {
    return DatabaseDirectory.of(this);
  }

  /** Fails unless keys are routed to shards as this version does. */
  void requireRouting() throws UnsupportedFormatException {
    String routing = Facts.routing(manifest);
    if (routing != null && !routing.equals(KeySlots.NAME)) {
      throw new UnsupportedFormatException(
          file(), "keys routed to shards by " + routing, KeySlots.NAME);
    }
  }
}
