package tech.bsdb.transfer;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.io.DurableFiles;

/**
 * The files of a local database or set of shards, to be sent elsewhere. Every byte is verified as
 * it is read: each page against its checksum, each file against its digest in the manifest.
 * Immutable and thread-safe.
 */
public final class Consignment {
  /** The file that makes a directory a database; to be sent last. */
  public static final String MANIFEST = Manifest.FILE_NAME;

  /** The most bytes of that file. */
  public static final int MOST_OF_MANIFEST = ManifestFile.MAX_BYTES;

  private final Path path;
  private final DatabaseId id;
  private final List<Shipment.Part> parts;
  private final boolean hashed;
  private final List<Part> files;
  private final List<Part> manifests;

  private Consignment(DataSet opened) {
    this.path = opened.path();
    this.id = opened.id();
    List<Part> files = new ArrayList<>();
    List<Part> manifests = new ArrayList<>();
    for (DataSet.Located file : opened.files()) {
      files.add(new Part(file.path(), file.entry().length(), file.database().id(), file.entry()));
    }
    if (opened.isSet()) {
      for (DatabaseDirectory shard : opened.databases()) {
        manifests.add(
            new Part(shard.path().resolve(MANIFEST), shard.manifestBytes(), shard.id(), null));
      }
    }
    long bytes =
        opened.isSet() ? opened.setManifestBytes() : opened.databases().get(0).manifestBytes();
    manifests.add(new Part(path.resolve(MANIFEST), bytes, id, null));
    this.parts = parts(opened);
    this.hashed = opened.hasContentHashes();
    this.files = List.copyOf(files);
    this.manifests = List.copyOf(manifests);
  }

  private static List<Shipment.Part> parts(DataSet opened) {
    return opened.databases().stream()
        .map(
            each ->
                new Shipment.Part(
                    each.id().toString(), opened.isSet() ? DurableFiles.name(each.path()) : ""))
        .toList();
  }

  /**
   * Lists the files of a database or a set of shards, and checks the frame of each.
   *
   * @throws CorruptDatabaseException if one is damaged, truncated or from another database
   * @throws java.nio.file.NotDirectoryException if it is not a database
   */
  public static Consignment of(Path database) throws IOException {
    return new Consignment(DataSet.open(database));
  }

  /** The id of the database or of the set, 32 hexadecimal digits. */
  public String databaseId() {
    return id.toString();
  }

  /** Whether all manifests have a hash of the content of each file. */
  public boolean hasContentHashes() {
    return hashed;
  }

  /** The databases: one, or the shards of a set. */
  public List<Shipment.Part> parts() {
    return parts;
  }

  /** All files except manifests, in any order to be sent first. */
  public List<Part> files() {
    return files;
  }

  /** The manifests, in the order in which to send them: last that of the database or the set. */
  public List<Part> manifests() {
    return manifests;
  }

  /** The number of bytes of all files. */
  public long bytes() {
    return files.stream().mapToLong(Part::length).sum()
        + manifests.stream().mapToLong(Part::length).sum();
  }

  /** Whether a build has replaced this database in the directory. */
  public boolean isReplaced() {
    try {
      return !id.equals(manifest(path.resolve(MANIFEST)).id());
    } catch (IOException unreadable) {
      return false;
    }
  }

  private static ManifestFile manifest(Path file) throws IOException {
    return ManifestFile.decode(file, Files.readAllBytes(file));
  }

  /**
   * Returns the id of the database or set that a manifest describes, or null if the bytes are not
   * those of a manifest that this version reads.
   */
  public static @Nullable String databaseId(byte[] manifest) {
    try {
      return ManifestFile.decode(Path.of(MANIFEST), manifest).id().toString();
    } catch (CorruptDatabaseException | UnsupportedFormatException e) {
      return null;
    }
  }

  /**
   * Whether two manifest files describe the same database, with the same hash of each file.
   *
   * @param here one, sound
   * @param there the other, which may be signed
   */
  public static boolean isSame(byte[] here, byte[] there) {
    return here.length == there.length && Arrays.equals(ManifestSignature.copy(there, here), there);
  }

  /** Whether a file of this name can belong to a database. */
  public static boolean isFileName(String name) {
    return Manifest.isFileName(name);
  }

  /** Whether a directory of this name can be that of a shard in a set. */
  public static boolean isShardDirectory(String name) {
    return Manifest.isShardDirectory(name);
  }

  /** One of the files. */
  public final class Part {
    private final Path file;
    private final long length;
    private final DatabaseId owner;
    private final @Nullable FileEntry entry;

    private Part(Path file, long length, DatabaseId owner, @Nullable FileEntry entry) {
      this.file = file;
      this.length = length;
      this.owner = owner;
      this.entry = entry;
    }

    /** Its path below the directory of the database, with slashes. */
    public String name() {
      return path.relativize(file).toString().replace('\\', '/');
    }

    /** Its length in bytes. */
    public long length() {
      return length;
    }

    /**
     * Opens the file. Reading fails with a {@link CorruptDatabaseException} before it returns a
     * byte of a damaged page, and at the end if the digest is wrong, or if a page of a hash
     * function is damaged.
     */
    public InputStream open() throws IOException {
      if (entry != null) {
        return new VerifiedStream(file, entry, owner);
      }
      byte[] bytes = Files.readAllBytes(file);
      DatabaseId found = ManifestFile.decode(file, bytes).id();
      if (!found.equals(owner)) {
        throw new CorruptDatabaseException(file, 16, "database id " + owner, found.toString());
      }
      return new ByteArrayInputStream(bytes);
    }
  }
}
