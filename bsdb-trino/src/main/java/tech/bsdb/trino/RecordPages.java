package tech.bsdb.trino;

import io.trino.spi.connector.ConnectorPageSource;
import io.trino.spi.connector.MemoryContext;
import io.trino.spi.connector.SourcePage;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.trino.OpenTables.Use;
import tech.bsdb.trino.TablePages.RecordSource;

/** Makes pages of records, up to the limit of the query. Not thread-safe. */
final class RecordPages implements ConnectorPageSource {
  private static final int MOST_ROWS = 8_192;

  private final BsdbTable table;
  private final Use use;
  private final PageRows rows;
  private final MemoryContext memory;
  private final RecordSource records;
  private long left;
  private long bytes;
  private long nanos;
  private boolean finished;

  RecordPages(BsdbTable table, Use use, PageRows rows, MemoryContext memory, RecordSource records) {
    this.table = table;
    this.use = use;
    this.rows = rows;
    this.memory = memory;
    this.records = records;
    this.left = table.limit().orElse(Long.MAX_VALUE);
  }

  @Override
  public @Nullable SourcePage getNextSourcePage() {
    if (finished) {
      return null;
    }
    long begin = System.nanoTime();
    try {
      int most = (int) Math.min(left, MOST_ROWS);
      while (rows.count() < most && !rows.isFull()) {
        if (!records.next()) {
          finished = true;
          break;
        }
        add();
      }
    } catch (IOException | RuntimeException e) {
      throw TablePages.failure(table, e);
    } finally {
      nanos += System.nanoTime() - begin;
    }
    memory.setBytes(rows.bytes());
    left -= rows.count();
    finished |= left == 0;
    return rows.count() == 0 ? null : SourcePage.create(rows.take());
  }

  private void add() throws IOException {
    byte[] key = records.key();
    try {
      rows.add(key, records.bytes(), records.from(), records.length());
      bytes += key.length + records.length();
    } catch (BadRowException e) {
      throw BadRecordException.of(key, e);
    }
  }

  /** A value that is not a row. */
  static final class BadRecordException extends IOException {
    private static final long serialVersionUID = 1;

    private BadRecordException(String message, BadRowException cause) {
      super(message, cause);
    }

    static BadRecordException of(byte[] key, BadRowException cause) {
      return new BadRecordException(
          "the value of key %s cannot be read as a row: %s; if bsdb verify finds no damage, it was written so"
              .formatted(DuplicateKeyException.show(key), cause.getMessage()),
          cause);
    }
  }

  @Override
  public boolean isFinished() {
    return finished;
  }

  @Override
  public long getCompletedBytes() {
    return bytes;
  }

  @Override
  public long getReadTimeNanos() {
    return nanos;
  }

  @Override
  public void close() throws IOException {
    finished = true;
    try {
      records.close();
    } finally {
      use.close();
    }
  }
}
