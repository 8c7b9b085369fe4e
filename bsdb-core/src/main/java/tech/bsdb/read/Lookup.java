package tech.bsdb.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.CompressedReader;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PlainReader;
import tech.bsdb.data.RecordReader;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.format.CorruptDatabaseException;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Layout;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.hash.BucketHash;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.ValueIndex;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;

/**
 * The one way of a look-up: key, signature, slot, address, record; in approximate mode key,
 * signature, slot, value. Every reader goes it. Thread-safe.
 */
public final class Lookup implements Closeable {
  private final DatabaseDirectory directory;
  private final String engine;
  private final long seed;
  private final HashFunction hash;
  private final CheckedPages index;
  private final @Nullable AddressIndex addresses;
  private final @Nullable RecordReader records;
  private final @Nullable ValueIndex values;
  private final Sessions sessions = new Sessions();
  private final List<Closeable> opened;

  private Lookup(
      DatabaseDirectory directory,
      String engine,
      HashFunction hash,
      CheckedPages index,
      @Nullable AddressIndex addresses,
      @Nullable RecordReader records,
      @Nullable ValueIndex values,
      List<Closeable> opened) {
    this.directory = directory;
    this.engine = engine;
    this.seed = directory.manifest().number("hash.seed");
    this.hash = hash;
    this.index = index;
    this.addresses = addresses;
    this.records = records;
    this.values = values;
    this.opened = opened;
  }

  /**
   * Opens a database, in time and memory that do not grow with it.
   *
   * @param path its directory
   * @param choice chooses the engine for each file
   * @param verify whether a page is verified at its first touch
   */
  public static Lookup open(Path path, EngineChoice choice, boolean verify) throws IOException {
    return DatabaseDirectory.withOpened(path, directory -> open(directory, choice, verify));
  }

  private static Lookup open(DatabaseDirectory directory, EngineChoice choice, boolean verify)
      throws IOException {
    Manifest manifest = directory.manifest();
    List<Closeable> opened = new ArrayList<>();
    try {
      EngineChoice.Chosen chosen = choice.choose(directory);
      FileEntry hashEntry = only(directory, FileKind.HASH);
      HashFunction hash =
          BucketHash.open(
              directory.file(hashEntry),
              hashEntry,
              manifest.number("hash.buckets"),
              manifest.number("records"),
              manifest.small("hash.checksum.bits"),
              verify);
      opened.add(hash);
      FileEntry indexEntry = only(directory, FileKind.INDEX);
      int width = directory.approximateWidth();
      int entryWidth = width > 0 ? ValueIndex.entryWidth(width) : AddressIndex.WIDTH;
      long indexPages = AddressIndex.pagesFor(manifest.number("records"), entryWidth);
      if (indexPages != indexEntry.pages()) {
        throw directory
            .check(indexEntry)
            .corrupt(0, "an index of " + indexPages + " pages", indexEntry.pages() + "");
      }
      CheckedPages index = directory.pages(indexEntry, chosen.index(), verify);
      opened.add(index);
      if (width > 0) {
        ValueIndex values = new ValueIndex(index, width, directory.check(indexEntry));
        return new Lookup(directory, chosen.reason(), hash, index, null, null, values, opened);
      }
      RecordReader records = records(directory, chosen.data(), verify);
      opened.add(records);
      return new Lookup(
          directory, chosen.reason(), hash, index, new AddressIndex(index), records, null, opened);
    } catch (IOException | RuntimeException e) {
      closeAll(opened, e);
      throw e;
    }
  }

  private static FileEntry only(DatabaseDirectory directory, FileKind kind) throws IOException {
    List<FileEntry> entries = directory.manifest().files(kind);
    if (entries.size() != 1) {
      throw new CorruptDatabaseException(
          directory.path().resolve(Manifest.FILE_NAME),
          4096,
          "one " + kind.label() + " file",
          entries.size() + "");
    }
    return entries.get(0);
  }

  private static RecordReader records(DatabaseDirectory directory, Engine engine, boolean verify)
      throws IOException {
    boolean compressed = directory.layout() == Layout.COMPRESSED;
    byte[] dictionary = compressed ? directory.dictionary() : null;
    List<DataFile> files = directory.dataFiles(engine, verify);
    try {
      return compressed
          ? new CompressedReader(
              files, directory.addresses(), dictionary, directory.manifest().small("zstd.longest"))
          : new PlainReader(files, directory.addresses());
    } catch (IllegalArgumentException e) {
      throw badDictionary(directory, files, e);
    }
  }

  /**
   * The value of a key.
   *
   * @return the value, empty if it is empty, or null if the key is absent
   * @throws IOException if it cannot be read; a {@link CorruptDatabaseException} if its bytes are
   *     damaged
   * @throws IllegalStateException if the database is closed
   */
  public byte @Nullable [] get(byte[] key) throws IOException {
    try {
      return found(key);
    } catch (InternalError e) {
      throw unreadable(e);
    }
  }

  private byte @Nullable [] found(byte[] key) throws IOException {
    Session session = sessions.take();
    try {
      session.signature.compute(key, 0, key.length, seed);
      long slot = hash.slot(session.signature.high, session.signature.low);
      if (slot == HashFunction.ABSENT) {
        return null;
      }
      RecordReader reader = records;
      if (addresses != null && reader != null) {
        return reader.read(addresses.address(slot, session.index), key, session.scratch);
      }
      return values == null ? null : values.value(slot, session.index);
    } catch (IndexOutOfBoundsException e) {
      throw new CorruptDatabaseException(directory.path(), 0, "a sound database", e.toString());
    } finally {
      sessions.giveBack(session);
    }
  }

  /**
   * What the virtual machine throws where a mapped page cannot be read, as an exception that
   * callers expect.
   */
  private IOException unreadable(InternalError cause) {
    sessions.noteFault();
    return new IOException(
        directory.path()
            + ": a mapped file cannot be read; it was cut short while open, or the device failed",
        cause);
  }

  /** Whether the index leads the key to that address; it reads no record. */
  public boolean leadsTo(byte[] key, long address) throws IOException {
    try {
      Session session = sessions.take();
      try {
        session.signature.compute(key, 0, key.length, seed);
        long slot = hash.slot(session.signature.high, session.signature.low);
        return slot != HashFunction.ABSENT
            && addresses != null
            && addresses.address(slot, session.index) == address;
      } finally {
        sessions.giveBack(session);
      }
    } catch (InternalError e) {
      throw unreadable(e);
    }
  }

  /**
   * Walks all records, by files of its own.
   *
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  public RecordScanner scan() throws IOException {
    if (records == null) {
      throw new UnsupportedOperationException(
          directory.path() + " is approximate: it keeps no keys, so it cannot be scanned");
    }
    sessions.giveBack(sessions.take());
    byte[] dictionary = directory.layout() == Layout.COMPRESSED ? directory.dictionary() : null;
    List<DataFile> files = directory.dataFiles(new BufferedEngine(), true);
    try {
      return new RecordScanner(files, directory.layout(), directory.addresses(), dictionary);
    } catch (IllegalArgumentException e) {
      throw badDictionary(directory, files, e);
    }
  }

  /** Closes the data files that a dictionary kept from being read. */
  private static IOException badDictionary(
      DatabaseDirectory directory, List<DataFile> files, RuntimeException cause)
      throws IOException {
    for (DataFile file : files) {
      file.close();
    }
    List<FileEntry> entries = directory.manifest().files(FileKind.DICTIONARY);
    Path path = entries.isEmpty() ? directory.path() : directory.file(entries.get(0));
    return new CorruptDatabaseException(
        path, Page.SIZE, "a ZSTD dictionary", String.valueOf(cause.getMessage()));
  }

  /** Touches and verifies every page of the index once, so that later reads find it in memory. */
  void loadIndex() throws IOException {
    try {
      Session session = sessions.take();
      try {
        for (long page = 1; page < index.pages() - 1; page++) {
          index.read(page, 1, session.index);
        }
      } finally {
        sessions.giveBack(session);
      }
    } catch (InternalError e) {
      throw unreadable(e);
    }
  }

  /** Whether some records in the data files lost to another with the same key. */
  boolean holdsDropped() {
    return directory.manifest().number("duplicates.dropped") > 0;
  }

  /** What is open. */
  public DatabaseDirectory directory() {
    return directory;
  }

  /** The engine in use, and why. */
  public String engine() {
    return engine;
  }

  /** Waits for running look-ups and releases everything; a second call does nothing. */
  @Override
  public void close() throws IOException {
    Sessions.Closing closing = sessions.close();
    if (closing == Sessions.Closing.SESSION_LOST) {
      throw new IOException(
          directory.path()
              + ": closed after a mapped file failed; its files stay open until the process ends");
    }
    if (closing == Sessions.Closing.DONE) {
      IOException failure = new IOException("could not close " + directory.path());
      closeAll(opened, failure);
      if (failure.getSuppressed().length > 0) {
        throw failure;
      }
    }
  }

  private static void closeAll(List<Closeable> opened, Exception failure) {
    List<Closeable> reversed = new ArrayList<>(opened);
    Collections.reverse(reversed);
    for (Closeable resource : reversed) {
      try {
        resource.close();
      } catch (IOException | RuntimeException e) {
        failure.addSuppressed(e);
      }
    }
  }
}
