package tech.bsdb.tools.table;

import java.io.IOException;

/**
 * Reads parts of the input one after another and turns their rows into records. Not thread-safe.
 *
 * @param <P> a part, such as a row group
 */
public interface PartReader<P> extends AutoCloseable {
  /**
   * Reads a part.
   *
   * @throws tech.bsdb.tools.input.InputException if it cannot be read or is damaged; the message
   *     names it
   */
  void read(P part, Sink sink) throws IOException;

  @Override
  void close();

  /** Receives the rows of a part, batch by batch. */
  interface Sink {
    /** Returns a batch to fill. */
    RowBatch empty() throws IOException;

    /**
     * Takes a full batch.
     *
     * @return whether to continue
     */
    boolean take(RowBatch batch) throws IOException;
  }

  /** Wraps an exception of the sink, which is not the file's fault. */
  final class SinkException extends IOException {
    private static final long serialVersionUID = 1L;

    SinkException(IOException cause) {
      super(cause.getMessage(), cause);
    }
  }
}
