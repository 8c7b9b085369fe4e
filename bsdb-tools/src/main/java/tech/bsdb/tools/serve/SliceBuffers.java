package tech.bsdb.tools.serve;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.tools.serve.batch.AnswerWriter;
import tech.bsdb.tools.serve.client.HeldMemory;

/**
 * The arrays in which the values of a slice are read and its answers written. They are kept for the
 * next slice, unless values made them large, and count as held memory. Used by one thread at a
 * time.
 *
 * @param <W> what writes the answers
 */
final class SliceBuffers<W extends AnswerWriter> {
  /** Creates the writer for answers from a database. */
  @FunctionalInterface
  interface WriterFactory<W> {
    /**
     * Creates a writer for one request.
     *
     * @throws RequestRefusedException if the request needs something this database does not have
     */
    W of(Database database) throws RequestRefusedException;
  }

  private static final long VALUE_BYTES = 1 << 20;

  /** A value array that grew beyond this many bytes is not kept for the next slice. */
  private static final int KEPT = 1 << 20;

  private final Database database;
  private final HeldMemory.Share working;
  private final WriterFactory<W> form;
  private @Nullable W writer;
  private @Nullable LookupBatch batch;

  /**
   * Creates nothing yet.
   *
   * @throws RequestRefusedException if there can be no writer for the database
   */
  SliceBuffers(Database database, HeldMemory.Share working, WriterFactory<W> form)
      throws RequestRefusedException {
    this.database = database;
    this.working = working;
    this.form = form;
    form.of(database);
  }

  /** Returns how many values of a database are read together, so that they take little memory. */
  static int together(long longestValue) {
    return (int) Math.max(1, Math.min(Slices.KEYS, VALUE_BYTES / Math.max(1, longestValue)));
  }

  /** Returns the writer, which reserves memory as it grows. */
  W writer() throws IOException {
    W made = writer;
    if (made == null) {
      try {
        made = form.of(database);
      } catch (RequestRefusedException e) {
        throw new IOException("the database changed while a request was being answered", e);
      }
      made.use(working::reserve);
      writer = made;
    }
    return made;
  }

  /** Returns the batch, which reserves memory before it reads values. */
  LookupBatch batch() {
    LookupBatch made = batch;
    if (made == null) {
      made = database.batch();
      made.use(working);
      batch = made;
    }
    return made;
  }

  /** Returns the array that starts with what was written. */
  byte[] written() {
    return require().buffer();
  }

  /** Returns the bytes written. */
  int length() {
    W made = writer;
    return made == null ? 0 : made.length();
  }

  /**
   * Counts the arrays kept for the next slice; the largest are dropped.
   *
   * @param others bytes of what else is kept
   */
  void countKept(long others) {
    LookupBatch asked = batch;
    if (asked != null && asked.values().length > KEPT) {
      asked = null;
      batch = null;
    }
    working.settle(
        others + require().buffer().length + (asked == null ? 0L : asked.values().length));
  }

  /** Drops both. */
  void drop() {
    writer = null;
    batch = null;
    working.settle(0);
  }

  private W require() {
    W made = writer;
    if (made == null) {
      throw new IllegalStateException("nothing was written");
    }
    return made;
  }
}
