package tech.bsdb.spark.read;

import java.io.IOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.spark.read.OpenShard.ShardOpener;
import tech.bsdb.tools.rows.BadRowException;

/** Reads the rows of a part of a table, one after another. Not thread-safe. */
abstract class ShardReader implements PartitionReader<InternalRow> {
  /** How many records are read between two looks at whether the task still runs. */
  private static final int UNCHECKED = 128;

  private static final byte[] NOTHING = {};

  private final RecordRows rows;

  /** Opens databases, and tells whether the task still runs. */
  final ShardOpener opener;

  private @Nullable InternalRow row;
  private int unchecked;

  ShardReader(RecordRows rows, ShardOpener opener) {
    this.rows = rows;
    this.opener = opener;
  }

  /** Makes the row of the record at a cursor, which reads values if they are needed. */
  final void show(ShardPlace place, RecordCursor records) throws IOException {
    show(place, records.key(), rows.readsValues() ? records.value() : NOTHING);
  }

  /** Makes the row of a record. */
  final void show(ShardPlace place, byte[] key, byte[] value) throws IOException {
    try {
      row = rows.row(key, value);
    } catch (BadRowException e) {
      throw new IOException(
          ("%s: the value of key %s cannot be read as a row: %s; if bsdb verify finds no damage, it"
               + " was written so")
              .formatted(place, DuplicateKeyException.show(key), e.getMessage()),
          e);
    }
  }

  /** Advances to the next record and {@link #show shows} it; false at the end. */
  abstract boolean advance() throws IOException;

  @Override
  public final boolean next() throws IOException {
    if (--unchecked < 0) {
      unchecked = UNCHECKED;
      opener.checkRunning();
    }
    return advance();
  }

  @Override
  public final InternalRow get() {
    InternalRow current = row;
    if (current == null) {
      throw new IllegalStateException("no row was read");
    }
    return current;
  }
}
