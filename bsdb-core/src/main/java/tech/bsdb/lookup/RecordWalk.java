package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import tech.bsdb.data.RecordScanner;

/**
 * Iterates over the records that lookups can find, skipping dropped duplicates. Not thread-safe.
 */
public final class RecordWalk implements Closeable {
  private final Lookup lookup;
  private final RecordScanner scanner;
  private final boolean mayBeDropped;
  private boolean closed;

  /** Starts a walk over an open database. */
  public RecordWalk(Lookup lookup) throws IOException {
    this.lookup = lookup;
    this.scanner = lookup.scan();
    this.mayBeDropped = lookup.holdsDropped();
  }

  /** Advances to the next record; returns false at the end. */
  public boolean next() throws IOException {
    if (closed) {
      throw new IllegalStateException("the walk over the records is closed");
    }
    while (scanner.next()) {
      if (!mayBeDropped || lookup.leadsTo(scanner.key(), scanner.address())) {
        return true;
      }
    }
    return false;
  }

  /** The key of the record. */
  public byte[] key() {
    return scanner.key();
  }

  /** The value of the record. */
  public byte[] value() {
    return scanner.value();
  }

  /** Closes the walk's own files. A second call does nothing. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    scanner.close();
  }
}
