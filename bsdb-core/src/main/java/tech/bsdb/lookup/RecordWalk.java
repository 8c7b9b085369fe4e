package tech.bsdb.lookup;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.FileRange;
import tech.bsdb.data.RecordScanner;
import tech.bsdb.io.Resources;

/**
 * Iterates over the records that lookups can find, skipping dropped duplicates; of a set, shard by
 * shard. Not thread-safe.
 */
public final class RecordWalk implements RecordCursor {
  private static final byte[] NO_BYTES = new byte[0];

  /** A database that the walk has not reached, its open files, and what to read of them. */
  record Ahead(OpenPart part, List<DataFile> files, List<FileRange> ranges) {}

  private final Lookup lookup;
  private final boolean values;

  /** The files of all databases, which keep the walk going once the lookup is closed. */
  private final Resources files = new Resources();

  private final Queue<Ahead> ahead = new ArrayDeque<>();
  private @Nullable RecordScanner scanner;
  private byte[] key = NO_BYTES;
  private byte[] value = NO_BYTES;
  private boolean mayBeDropped;
  private boolean failed;
  private boolean closed;

  /**
   * Starts a walk over an open database. It continues even if the directory is replaced or deleted.
   *
   * @param values whether to read values, too
   * @param part the number of the part of each database to walk over, from 0
   * @param parts the number of parts
   * @throws UnsupportedOperationException if the database is approximate: it holds no keys
   * @throws IllegalStateException if the database is closed
   */
  public RecordWalk(Lookup lookup, boolean values, int part, int parts) throws IOException {
    this(lookup, values, 0, lookup.opened().databases().size(), new ScanParts(part, parts));
  }

  /**
   * Starts a walk over one of the databases of a lookup, with their keys and values.
   *
   * @param database the number of the database, 0 for a single one
   */
  public RecordWalk(Lookup lookup, int database) throws IOException {
    this(lookup, true, database, database + 1, new ScanParts(0, 1));
  }

  private RecordWalk(Lookup lookup, boolean values, int first, int end, ScanParts wanted)
      throws IOException {
    this.lookup = lookup;
    this.values = values;
    try {
      for (int i = first; i < end; i++) {
        List<DataFile> own = lookup.dataFiles(i);
        own.forEach(files::add);
        ahead.add(new Ahead(lookup.part(i), own, lookup.ranges(i, wanted)));
      }
    } catch (IOException | RuntimeException e) {
      files.closeAfter(e);
      throw e;
    }
  }

  /** Goes to the next database; returns null after the last. */
  private @Nullable RecordScanner advance() throws IOException {
    RecordScanner finished = scanner;
    scanner = null;
    if (finished != null) {
      finished.close();
    }
    Ahead next = ahead.poll();
    if (next != null) {
      mayBeDropped = next.part.holdsDropped();
      scanner = next.part.scan(next.files, values, next.ranges);
    }
    return scanner;
  }

  @Override
  public boolean next() throws IOException {
    if (closed) {
      throw new IllegalStateException("the walk over the records is closed");
    }
    if (failed) {
      throw new IllegalStateException("the scan failed before, and cannot go on");
    }
    failed = true;
    boolean found = advanceToCurrent();
    failed = false;
    return found;
  }

  /** Goes to the next record that a lookup finds; returns false after the last. */
  private boolean advanceToCurrent() throws IOException {
    RecordScanner current = scanner == null ? advance() : scanner;
    while (current != null) {
      while (current.next()) {
        key = current.key();
        if (!mayBeDropped || lookup.leadsTo(key, current.address())) {
          value = values ? current.value() : NO_BYTES;
          return true;
        }
      }
      current = advance();
    }
    return false;
  }

  @Override
  public byte[] key() {
    return key;
  }

  @Override
  public byte[] value() {
    if (!values) {
      throw new IllegalStateException("this scan reads keys only");
    }
    return value;
  }

  /** Closes the walk's own files. A second call does nothing. */
  @Override
  public void close() throws IOException {
    closed = true;
    RecordScanner open = scanner;
    scanner = null;
    ahead.clear();
    try (files) {
      if (open != null) {
        open.close();
      }
    }
  }
}
