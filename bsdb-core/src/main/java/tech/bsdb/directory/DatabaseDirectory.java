package tech.bsdb.directory;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Layout;
import tech.bsdb.data.DataFile;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.hash.HashKind;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.PageFile;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.Resources;
import tech.bsdb.io.ShownFile;

/**
 * A database directory whose manifest has been read and whose files, as far as they are here, have
 * the right length, header and footer. Immutable.
 *
 * @param path the directory
 * @param elsewhere where the files lie that are not here; null if all are here
 * @param id the database's id
 * @param manifest its manifest
 * @param facts the manifest's properties, decoded
 * @param manifestBytes size of the manifest file in bytes
 */
public record DatabaseDirectory(
    Path path,
    @Nullable Elsewhere elsewhere,
    DatabaseId id,
    Manifest manifest,
    Facts facts,
    long manifestBytes) {
  /** The longest filter that is brought here if the database lies elsewhere, in bytes. */
  private static final long LONGEST_FILTER = 8L << 20;

  /**
   * The database that a manifest describes; none of its files is checked yet.
   *
   * @param path the directory
   */
  public static DatabaseDirectory of(Path path, ManifestFile stated) throws IOException {
    return of(path, null, stated);
  }

  /**
   * The database that a manifest describes; none of its files is checked yet.
   *
   * @param path the directory
   * @param elsewhere where the files lie that are not here; null if all are here
   */
  public static DatabaseDirectory of(Path path, @Nullable Elsewhere elsewhere, ManifestFile stated)
      throws IOException {
    return stated.facts(
        () -> {
          Manifest manifest = stated.manifest();
          Layout layout = Facts.layout(stated.path(), manifest);
          if (layout == null || !layout.isPacked()) {
            HashKind.of(stated.path(), manifest);
          }
          Facts facts = Facts.of(stated.path(), manifest);
          checkFiles(manifest, facts);
          return new DatabaseDirectory(
              path, elsewhere, stated.id(), manifest, facts, stated.bytes());
        });
  }

  /** Reads and verifies the manifest file of a directory. */
  static ManifestFile manifest(Path directory) throws IOException {
    return manifest(directory, List.of());
  }

  /**
   * Reads and verifies the manifest file of a directory.
   *
   * @param trusted the keys of which one must have signed it, none to require no signature
   */
  static ManifestFile manifest(Path directory, List<PublicKey> trusted) throws IOException {
    Path file = directory.resolve(Manifest.FILE_NAME);
    if (!Files.exists(file)) {
      throw new NotDirectoryException(
          directory + " is not a bsdb database: it has no " + Manifest.FILE_NAME);
    }
    requireRegular(file);
    long length = Files.size(file);
    if (length > ManifestFile.MAX_BYTES) {
      throw new CorruptDatabaseException(file, 0, "a manifest", length + " bytes");
    }
    byte[] bytes = Files.readAllBytes(file);
    ManifestFile stated = ManifestFile.decode(file, bytes);
    ManifestSignature.require(file.toString(), bytes, trusted);
    return stated;
  }

  /** Fails for what is there and not a file; to open a pipe would wait for ever. */
  private static void requireRegular(Path file) throws CorruptDatabaseException {
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

  /** Fails if a file that is here is missing, damaged, cut short or from another database. */
  void checkFrames() throws IOException {
    for (FileEntry entry : manifest.files()) {
      if (isHere(entry)) {
        checkFrame(entry);
      }
    }
  }

  /**
   * Whether a file is here. Of a database elsewhere, those are that lookups need whole: the hash
   * function, the dictionary, the index of a packed database, and its filter if that is short.
   */
  public boolean isHere(FileEntry entry) {
    return elsewhere == null
        || switch (entry.file().kind()) {
          case MANIFEST, HASH, DICTIONARY -> true;
          case INDEX -> facts.packed();
          case FILTER -> entry.length() <= LONGEST_FILTER;
          case DATA, ORDER -> false;
        };
  }

  /** Where the directory or one of its files lies, as people write it. */
  public String location(Path file) {
    return elsewhere == null ? file.toString() : elsewhere.location(file);
  }

  /** The kind of the hash function. */
  public HashKind hashKind() throws UnsupportedFormatException {
    return HashKind.of(path.resolve(Manifest.FILE_NAME), manifest);
  }

  /**
   * Fails for a stored key that belongs to another shard, where lookups look for it.
   *
   * @throws CorruptDatabaseException if this is not the shard of the key
   */
  public void requireRoutedHere(byte[] key) throws CorruptDatabaseException {
    int owner = facts.shards() == 1 ? facts.shard() : KeySlots.shard(key, facts.shards());
    if (owner != facts.shard()) {
      throw check(first(FileKind.DATA))
          .corrupt(
              0,
              "keys of shard " + facts.shard() + " of " + facts.shards(),
              "a key of shard " + owner);
    }
  }

  private static void checkFiles(Manifest manifest, Facts facts) {
    boolean approximate = facts.approximate();
    boolean compressed = facts.compressed();
    checkCount(manifest, FileKind.MANIFEST, 0, 0);
    checkCount(manifest, FileKind.HASH, facts.packed() ? 0 : 1, facts.packed() ? 0 : 1);
    checkCount(manifest, FileKind.INDEX, 1, 1);
    checkCount(manifest, FileKind.DATA, approximate ? 0 : 1, approximate ? 0 : 128);
    checkCount(manifest, FileKind.DICTIONARY, 0, compressed ? 1 : 0);
    int filters = facts.filter() == null ? 0 : 1;
    checkCount(manifest, FileKind.FILTER, filters, filters);
    int orders = facts.order() == null ? 0 : 1;
    checkCount(manifest, FileKind.ORDER, orders, orders);
    for (FileEntry entry : manifest.files()) {
      boolean dictionary = entry.file().kind() == FileKind.DICTIONARY;
      long mostPages = dictionary ? 2 + (1 << 20) / Page.PAYLOAD + 1 : 1L << 51;
      if (entry.pages() < 2
          || entry.pages() > mostPages
          || entry.end() < Page.SIZE
          || entry.end() > (entry.pages() - 1) * Page.SIZE) {
        throw new IllegalArgumentException(
            entry.file() + " with " + entry.pages() + " pages to " + entry.end());
      }
    }
  }

  private static void checkCount(Manifest manifest, FileKind kind, int least, int most) {
    List<FileEntry> entries = manifest.files(kind);
    if (entries.size() < least || entries.size() > most) {
      throw new IllegalArgumentException(entries.size() + " files of kind " + kind.label());
    }
    for (int i = 0; i < entries.size(); i++) {
      if (entries.get(i).file().number() != i) {
        throw new IllegalArgumentException(entries.get(i).file() + " listed as number " + i);
      }
    }
  }

  private void checkFrame(FileEntry entry) throws IOException {
    Path file = file(entry);
    requireRegular(file);
    if (!Files.exists(file)) {
      throw new NoSuchFileException(
          file.toString(),
          null,
          "missing, although the manifest lists it: the database was not copied whole, or the"
              + " manifest is from another database");
    }
    PageCheck check = check(entry);
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long length = channel.size();
      check.require(
          length == entry.length(),
          Math.min(length, entry.length()),
          "a length of " + entry.length() + " bytes",
          length + " bytes: the file was not copied whole");
      FileFrame frame =
          FileFrame.decode(
              file, entry.file(), read(channel, 0), read(channel, entry.pages() - 1), length);
      check.require(
          frame.databaseId().equals(id),
          16,
          "database id " + id,
          frame.databaseId() + ": the file belongs to another database");
      check.require(
          frame.digest() == entry.digest(),
          entry.length() - Page.SIZE + 40,
          "digest " + Long.toHexString(entry.digest()),
          Long.toHexString(frame.digest()));
    }
  }

  private static byte[] read(FileChannel channel, long page) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Page.SIZE);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, (page << Page.SHIFT) + bytes.position()) < 0) {
        throw new EOFException("the file was cut short while it was opened");
      }
    }
    return bytes.array();
  }

  /** Returns the first file of a kind, which is there; the only one, unless it holds data. */
  public FileEntry first(FileKind kind) {
    return manifest.files(kind).get(0);
  }

  /** Returns the path of a file. */
  public Path file(FileEntry entry) {
    return path.resolve(entry.name(id));
  }

  /** Returns a check for a file's pages. */
  public PageCheck check(FileEntry entry) {
    Path file = file(entry);
    return new PageCheck(file, location(file), entry.file());
  }

  /**
   * Returns a check that verifies pages as they are read, of a file other than that of the hash
   * function. Thread-safe.
   */
  public CheckedPages.Check pageCheck(FileEntry entry) {
    PageCheck check = check(entry);
    return (window, offset, number) -> {
      int stored = window.buffer().getInt(offset + Page.PAYLOAD);
      check.check(window.crc32c(offset, Page.PAYLOAD), stored, number);
      return stored;
    };
  }

  /** Tells the pages of a file from those of all others in a cache of pages. */
  long identity(FileEntry entry) {
    return PageFile.identity(id().bytes(), entry.file().kind().code() << 8 | entry.file().number());
  }

  /**
   * Opens a file's pages. An engine that loads the file also verifies it now.
   *
   * @param reads counts the reads, unless the engine shows memory
   */
  public CheckedPages pages(FileEntry entry, Engine engine, boolean verify, ReadCount reads)
      throws IOException {
    if (engine instanceof LoadedEngine loader) {
      return new CheckedPages(load(entry, loader, verify), entry.pages(), null);
    }
    PageSource source = engine.open(file(entry), entry.length());
    return new CheckedPages(
        source,
        entry.pages(),
        verify ? pageCheck(entry) : null,
        engine.verifiesEveryRead(),
        engine.showsMemory() ? null : reads);
  }

  /** Loads a file and verifies it now; the caller closes it. */
  public ShownFile load(FileEntry entry, LoadedEngine loader, boolean verify) throws IOException {
    ShownFile file = loader.open(file(entry), entry.length());
    try {
      if (verify) {
        verify(entry, file);
      }
      return file;
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Verifies all pages of a file in memory, and its digest. */
  private void verify(FileEntry entry, ShownFile file) throws CorruptDatabaseException {
    PageCheck check = check(entry);
    long digest = 0;
    for (long page = 0; page < entry.pages(); page++) {
      int checksum = verify(check, file, page);
      if (page > 0 && page < entry.pages() - 1) {
        digest = PageEncoder.fold(digest, checksum);
      }
    }
    check.checkDigest(entry, digest);
  }

  /** Apart from the loop, so that the compiler has it early. */
  private static int verify(PageCheck check, ShownFile file, long page)
      throws CorruptDatabaseException {
    long at = page << Page.SHIFT;
    return check.check(file.buffer(at), ShownFile.offset(at), page);
  }

  /**
   * Opens all data files. If one fails, closes those already opened.
   *
   * @param reads counts the reads, unless the engine shows memory
   */
  public List<DataFile> dataFiles(Engine engine, boolean verify, ReadCount reads)
      throws IOException {
    return dataFiles(entry -> pages(entry, engine, verify, reads));
  }

  /** Opens the pages of a file. */
  @FunctionalInterface
  interface Opening {
    CheckedPages open(FileEntry entry) throws IOException;
  }

  /** Opens all data files. If one fails, closes those already opened. */
  List<DataFile> dataFiles(Opening opening) throws IOException {
    Resources opened = new Resources();
    List<DataFile> files = new ArrayList<>();
    try {
      for (FileEntry entry : manifest.files(FileKind.DATA)) {
        files.add(opened.add(new DataFile(opening.open(entry), check(entry), entry.end())));
      }
      return files;
    } catch (IOException | RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
  }

  /** Returns the size of the ZSTD dictionary in bytes; 0 if the database has none. */
  public int dictionaryBytes() {
    return (int)
        manifest.files(FileKind.DICTIONARY).stream().mapToLong(FileEntry::payloadBytes).sum();
  }

  /** Reads the ZSTD dictionary; returns null if the database has none. */
  public byte @Nullable [] dictionary() throws IOException {
    List<FileEntry> entries = manifest.files(FileKind.DICTIONARY);
    if (entries.isEmpty()) {
      return null;
    }
    FileEntry entry = entries.get(0);
    byte[] bytes = Files.readAllBytes(file(entry));
    PageCheck check = check(entry);
    check.require(
        bytes.length == entry.length(),
        bytes.length,
        entry.length() + " bytes",
        bytes.length + " bytes");
    return Arrays.copyOf(check.payload(bytes, entry.digest()), (int) entry.payloadBytes());
  }

  /**
   * Closes data files that cannot be read without a valid dictionary, and names it.
   *
   * @param cause why it is invalid
   */
  public CorruptDatabaseException badDictionary(List<DataFile> files, RuntimeException cause)
      throws IOException {
    for (DataFile file : files) {
      file.close();
    }
    List<FileEntry> entries = manifest.files(FileKind.DICTIONARY);
    Path named = entries.isEmpty() ? path : file(entries.get(0));
    return new CorruptDatabaseException(
            named, Page.SIZE, "a ZSTD dictionary", String.valueOf(cause.getMessage()))
        .at(location(named));
  }
}
