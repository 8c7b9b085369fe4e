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

/**
 * Iterates over the records that lookups can find, skipping dropped duplicates; of a set, shard by
 * shard. Not thread-safe.
 */
public final class RecordWalk implements RecordCursor {
  /** A database that the walk has not reached, its open files, and what to read of them. */
  record Ahead(OpenPart part, List<DataFile> files, List<FileRange> ranges) {}

  private final Lookup lookup;
  private final boolean values;
  private final Queue<Ahead> ahead;
  private @Nullable RecordScanner scanner;
  private boolean mayBeDropped;
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
    this(lookup, values, lookup.filesToScan(new ScanParts(part, parts)));
  }

  /**
   * Starts a walk over one of the databases of a lookup, with their keys and values.
   *
   * @param database the number of the database, 0 for a single one
   */
  public RecordWalk(Lookup lookup, int database) throws IOException {
    this(lookup, true, List.of(lookup.fileToScan(database)));
  }

  private RecordWalk(Lookup lookup, boolean values, List<Ahead> ahead) throws IOException {
    this.lookup = lookup;
    this.values = values;
    this.ahead = new ArrayDeque<>(ahead);
    try {
      advance();
    } catch (IOException | RuntimeException e) {
      try {
        close();
      } catch (IOException closing) {
        e.addSuppressed(closing);
      }
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
    RecordScanner current = scanner;
    while (current != null) {
      while (current.next()) {
        if (!mayBeDropped || lookup.leadsTo(current.key(), current.address())) {
          return true;
        }
      }
      if (ahead.isEmpty()) {
        return false;
      }
      current = advance();
    }
    return false;
  }

  @Override
  public byte[] key() {
    return current().key();
  }

  @Override
  public byte[] value() {
    return current().value();
  }

  private RecordScanner current() {
    RecordScanner current = scanner;
    if (current == null) {
      throw new IllegalStateException("the walk over the records is closed");
    }
    return current;
  }

  /** Closes the walk's own files. A second call does nothing. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    IOException failure = null;
    if (scanner != null) {
      try {
        scanner.close();
      } catch (IOException e) {
        failure = e;
      }
    }
    for (Ahead each : ahead) {
      for (DataFile file : each.files) {
        try {
          file.close();
        } catch (IOException e) {
          failure = e;
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
