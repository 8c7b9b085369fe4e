package tech.bsdb.directory;

import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.DataFile;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.format.RecordLayout;
import tech.bsdb.hash.HashKind;
import tech.bsdb.hash.HashKinds;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadCount;
import tech.bsdb.io.ShownFile;

/**
 * A database directory whose manifest has been read and whose files all have the right length,
 * header and footer. Immutable.
 *
 * @param path the directory
 * @param id the database's id
 * @param manifest its manifest
 * @param facts the manifest's properties, decoded
 * @param manifestBytes size of the manifest file in bytes
 */
public record DatabaseDirectory(
    Path path, DatabaseId id, Manifest manifest, Facts facts, long manifestBytes) {
  /** The largest manifest, reached with the maximum number of data files. */
  private static final int MAX_MANIFEST_PAGES = 4096;

  private static final int ATTEMPTS = 100;

  /**
   * Reads the manifest and checks the frame of every file. Takes the same time for every database
   * size.
   *
   * @throws NoSuchFileException if the directory or one of its files does not exist
   * @throws NotDirectoryException if it is not a directory or not a database
   * @throws CorruptDatabaseException if a file is damaged, cut short or from another database
   * @throws UnsupportedFormatException if this version does not read its format
   */
  public static DatabaseDirectory open(Path path) throws IOException {
    return withOpened(path, directory -> directory);
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

  /** An operation on the files of a database. */
  @FunctionalInterface
  public interface Use<T> {
    /** Uses the directory's files. Closes what it opened if it fails. */
    T with(DatabaseDirectory directory) throws IOException;
  }

  /**
   * Opens a directory like {@link #open} and uses its files. If a build replaces the database
   * meanwhile and a file is missing, starts again with the new database.
   */
  public static <T> T withOpened(Path path, Use<T> use) throws IOException {
    refuseUnlessDirectory(path);
    for (int attempt = 1; ; attempt++) {
      DatabaseDirectory directory = readManifest(path);
      try {
        for (FileEntry entry : directory.manifest.files()) {
          directory.checkFrame(entry);
        }
        return use.with(directory);
      } catch (NoSuchFileException | FileNotFoundException e) {
        if (attempt == ATTEMPTS || directory.id.equals(readAgain(path, e).id)) {
          throw e;
        }
      }
    }
  }

  /** Reads the manifest again after a file turned out to be missing. */
  private static DatabaseDirectory readAgain(Path path, IOException missing) throws IOException {
    try {
      return readManifest(path);
    } catch (NoSuchFileException | NotDirectoryException e) {
      NoSuchFileException removed =
          new NoSuchFileException(
              path.toString(), null, "the database was removed while it was being opened");
      removed.initCause(missing);
      throw removed;
    }
  }

  private static DatabaseDirectory readManifest(Path path) throws IOException {
    Path file = path.resolve(Manifest.FILE_NAME);
    if (!Files.exists(file)) {
      throw new NotDirectoryException(
          path + " is not a bsdb database: it has no " + Manifest.FILE_NAME);
    }
    requireRegular(file);
    byte[] bytes;
    long length = Files.size(file);
    if (length > (long) MAX_MANIFEST_PAGES * Page.SIZE) {
      throw new CorruptDatabaseException(file, 0, "a manifest", length + " bytes");
    }
    bytes = Files.readAllBytes(file);
    ManifestFile decoded = ManifestFile.decode(file, bytes);
    Manifest manifest = decoded.manifest();
    return new DatabaseDirectory(path, decoded.id(), manifest, readable(file, manifest), length);
  }

  /** Reads every property once, so that later reads find it present and in range. */
  private static Facts readable(Path file, Manifest manifest) throws IOException {
    try {
      if (Facts.format(manifest) != FileFrame.VERSION) {
        throw new UnsupportedFormatException(
            file, "format " + Facts.format(manifest), "format " + FileFrame.VERSION);
      }
      RecordLayout layout = Facts.layout(manifest);
      if (layout == null) {
        throw new UnsupportedFormatException(
            file, "layout " + Facts.layoutName(manifest), RecordLayout.names());
      }
      if (!layout.packed()) {
        HashKinds.of(file, manifest);
      }
      Facts facts = Facts.of(manifest);
      checkFiles(manifest, facts);
      return facts;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new CorruptDatabaseException(
          file,
          Page.SIZE,
          "a manifest of format " + FileFrame.VERSION,
          String.valueOf(e.getMessage()));
    }
  }

  /** The kind of the hash function. */
  public HashKind hashKind() throws UnsupportedFormatException {
    return HashKinds.of(path.resolve(Manifest.FILE_NAME), manifest);
  }

  /**
   * Fails if this is one shard of a divided database. A reader of a single shard would report the
   * other shards' keys as absent.
   */
  public void refuseShard() throws UnsupportedFormatException {
    if (facts.shards() > 1) {
      throw new UnsupportedFormatException(
          path.resolve(Manifest.FILE_NAME),
          "shard " + facts.shard() + " of " + facts.shards(),
          "undivided databases (shard.count=1)");
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
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      if (channel.size() != entry.length()) {
        throw new CorruptDatabaseException(
            file,
            Math.min(channel.size(), entry.length()),
            "a length of " + entry.length() + " bytes",
            channel.size() + " bytes: the file was not copied whole");
      }
      FileFrame frame =
          FileFrame.decode(
              file,
              entry.file(),
              read(channel, 0),
              read(channel, entry.pages() - 1),
              channel.size());
      if (!frame.databaseId().equals(id)) {
        throw new CorruptDatabaseException(
            file,
            16,
            "database id " + id,
            frame.databaseId() + ": the file belongs to another database");
      }
      if (frame.digest() != entry.digest()) {
        throw new CorruptDatabaseException(
            file,
            entry.length() - Page.SIZE + 40,
            "digest " + Long.toHexString(entry.digest()),
            Long.toHexString(frame.digest()));
      }
    }
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

  private static byte[] read(FileChannel channel, long page) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Page.SIZE);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes, (page << Page.SHIFT) + bytes.position()) < 0) {
        throw new EOFException("the file was cut short while it was opened");
      }
    }
    return bytes.array();
  }

  /** Returns the path of a file. */
  public Path file(FileEntry entry) {
    return path.resolve(entry.name(id));
  }

  /** Returns a check for a file's pages. */
  public PageCheck check(FileEntry entry) {
    return new PageCheck(file(entry), entry.file());
  }

  /** Returns a check that verifies a file's pages as they are read. */
  CheckedPages.Check pageCheck(FileEntry entry) {
    PageCheck check = check(entry);
    return (window, offset, number) ->
        check.check(
            window.crc32c(offset, Page.PAYLOAD),
            window.buffer().getInt(offset + Page.PAYLOAD),
            number);
  }

  /**
   * Opens a file's pages. An engine that loads the file also verifies it now.
   *
   * @param reads counts the reads, unless the engine shows memory
   */
  public CheckedPages pages(FileEntry entry, Engine engine, boolean verify, ReadCount reads)
      throws IOException {
    if (engine instanceof LoadedEngine loader) {
      return loaded(entry, loader, verify);
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
    Whole whole = new Whole(check(entry), entry.pages() - 1);
    ShownFile file = loader.load(file(entry), entry.length(), verify ? whole : null);
    try {
      if (verify) {
        check(entry).checkDigest(entry, whole.digest);
      }
      return file;
    } catch (IOException e) {
      file.close();
      throw e;
    }
  }

  private CheckedPages loaded(FileEntry entry, LoadedEngine loader, boolean verify)
      throws IOException {
    Whole whole = new Whole(check(entry), entry.pages() - 1);
    PageSource source = loader.open(file(entry), entry.length(), verify ? whole : null);
    try {
      if (verify) {
        check(entry).checkDigest(entry, whole.digest);
      }
      return CheckedPages.loaded(source, entry.pages());
    } catch (IOException e) {
      source.close();
      throw e;
    }
  }

  /** Verifies the pages of a file read from front to back and computes its digest. */
  private static final class Whole implements LoadedEngine.Check {
    private final PageCheck check;
    private final long footer;
    private long next = 1;
    private long digest;

    Whole(PageCheck check, long footer) {
      this.check = check;
      this.footer = footer;
    }

    @Override
    public void check(ByteBuffer buffer, int offset, long number) throws IOException {
      int checksum = check.check(buffer, offset, number);
      if (number == next && number < footer) {
        digest = PageEncoder.fold(digest, checksum);
        next++;
      }
    }
  }

  /**
   * Opens all data files. If one fails, closes those already opened.
   *
   * @param reads counts the reads, unless the engine shows memory
   */
  public List<DataFile> dataFiles(Engine engine, boolean verify, ReadCount reads)
      throws IOException {
    List<DataFile> files = new ArrayList<>();
    try {
      for (FileEntry entry : manifest.files(FileKind.DATA)) {
        files.add(new DataFile(pages(entry, engine, verify, reads), check(entry), entry.end()));
      }
      return files;
    } catch (IOException | RuntimeException e) {
      for (DataFile file : files) {
        file.close();
      }
      throw e;
    }
  }

  /** Reads the ZSTD dictionary; returns null if the database has none. */
  public byte @Nullable [] dictionary() throws IOException {
    List<FileEntry> entries = manifest.files(FileKind.DICTIONARY);
    if (entries.isEmpty()) {
      return null;
    }
    FileEntry entry = entries.get(0);
    byte[] bytes = Files.readAllBytes(file(entry));
    if (bytes.length != entry.length()) {
      throw new CorruptDatabaseException(
          file(entry), bytes.length, entry.length() + " bytes", bytes.length + " bytes");
    }
    byte[] payload = check(entry).payload(bytes, entry.digest());
    return Arrays.copyOf(payload, (int) entry.payloadBytes());
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
    return new CorruptDatabaseException(
        entries.isEmpty() ? path : file(entries.get(0)),
        Page.SIZE,
        "a ZSTD dictionary",
        String.valueOf(cause.getMessage()));
  }
}
