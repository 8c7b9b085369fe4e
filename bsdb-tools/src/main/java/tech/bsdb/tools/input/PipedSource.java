package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;

/**
 * A source whose lines or rows come through a pipeline: it is read once, can be stopped, and may
 * have a file for what is left out. {@link #stop} and {@link #close} are for any thread.
 */
public abstract class PipedSource implements RecordSource {
  /** Accounts for what was read. */
  protected final Ledger ledger;

  private boolean read;

  // All below is guarded by this.
  private boolean stopped;
  private @Nullable Runnable running;
  private @Nullable Rejects rejects;

  /** A source that was not read yet. */
  protected PipedSource(Ledger ledger) {
    this.ledger = ledger;
  }

  @Override
  public final InputReport feed(DatabaseBuilder builder, InputListener listener)
      throws IOException {
    return readOnce(() -> Batch.into(builder), listener);
  }

  @Override
  public final InputReport forEach(RecordVisitor visitor, InputListener listener)
      throws IOException {
    return readOnce(() -> Batch.copying(visitor), listener);
  }

  private InputReport readOnce(Supplier<Batch> batches, InputListener listener) throws IOException {
    if (read) {
      throw new IllegalStateException("the input has already been read");
    }
    read = true;
    return read(batches, listener);
  }

  /** Reads everything, between {@link #begin} and the end of the file that it returns. */
  protected abstract InputReport read(Supplier<Batch> batches, InputListener listener)
      throws IOException;

  /**
   * Begins reading.
   *
   * @param path the file for what is left out, or null
   * @param transcoded whether the input is in an encoding other than UTF-8
   * @param stop makes the reading end with an exception
   * @return the opened file, for the caller to close; null without a path
   */
  protected final @Nullable Rejects begin(@Nullable Path path, boolean transcoded, Runnable stop)
      throws IOException {
    // without the lock: opening a pipe without a reader would block whoever wants to stop
    Rejects opened = path == null ? null : Rejects.open(path, transcoded);
    synchronized (this) {
      if (stopped) {
        if (opened != null) {
          opened.close();
          opened.discard();
        }
        throw new IllegalStateException("the input is closed");
      }
      running = stop;
      rejects = opened;
      return opened;
    }
  }

  /**
   * Enters the next piece of the input in the ledger, and passes its records on.
   *
   * @param file the number of its file
   * @param rejects what {@link #begin} returned
   */
  protected final void enter(int file, Parsed parsed, @Nullable Rejects rejects)
      throws IOException {
    ledger.enter(file, parsed, rejects);
    parsed.records().handOn();
  }

  @Override
  public final synchronized void publishRejects() throws IOException {
    if (rejects != null) {
      rejects.publish();
    }
  }

  @Override
  public final @Nullable String place(long recordNumber) {
    return ledger.place(recordNumber);
  }

  @Override
  public final synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.run();
    }
  }

  /** Whether reading was stopped. */
  final synchronized boolean isStopped() {
    return stopped;
  }

  @Override
  public void close() {
    stop();
    synchronized (this) {
      if (rejects != null) {
        rejects.discard();
      }
    }
  }
}
