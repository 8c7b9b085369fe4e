package tech.bsdb.tools.input;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Parses the chunks of a source on several threads and delivers them on one, in the order of the
 * input.
 *
 * <p>Each chunk is a lane of an {@link OrderedPipeline}. A worker takes an empty chunk, waits for
 * exclusive use of the source, fills and numbers the chunk there, and then releases the source and
 * parses the chunk. The number of chunks is fixed, and less than the threads could use if the heap
 * is small, so memory is bounded; while long records make chunks large, fewer are filled. A worker
 * never waits while it holds a numbered chunk, so the run cannot stall.
 *
 * <p>When the run ends, a worker that is waiting for standard input or a pipe is left behind. It is
 * a daemon and ends when its read returns.
 */
final class ParsePipeline {
  /** Bytes of chunks at most, and beyond which the source waits if long records enlarge them. */
  private static final long MAX_HELD = Runtime.getRuntime().maxMemory() / 8;

  private final ChunkSource source;
  private final boolean sourceMayBlock;
  private final InputOptions options;
  private final Supplier<RecordSyntax.ChunkParser> parsers;
  private final Supplier<Batch> batches;
  private final int chunkBytes;
  private final OrderedPipeline<Chunk> chunks;

  // All below is guarded by this.
  private final Deque<Chunk> empty = new ArrayDeque<>();
  private int chunksToMake;
  private long heldBytes;
  private long numbered;
  private @Nullable Thread sourceUser;
  private boolean sourceEnded;

  ParsePipeline(
      ChunkSource source,
      Supplier<RecordSyntax.ChunkParser> parsers,
      Supplier<Batch> batches,
      InputOptions options,
      int chunkBytes) {
    this.source = source;
    this.sourceMayBlock = source.mayBlock();
    this.options = options;
    this.parsers = parsers;
    this.batches = batches;
    this.chunkBytes = chunkBytes;
    int threads = options.threads();
    this.chunks = new OrderedPipeline<>(this, "bsdb-input-", threads);
    this.chunksToMake = (int) Math.max(2, Math.min(2L * threads + 2, MAX_HELD / chunkBytes));
  }

  /**
   * Parses everything; may be called once.
   *
   * @param taker takes the chunks in the order of the input; then they belong to the pipeline again
   * @throws IOException if reading, parsing or the taker fails; all workers have ended by then
   */
  void run(OrderedPipeline.Taker<Chunk> taker) throws IOException {
    try {
      chunks.run(
          this::work,
          (number, chunk) -> {
            taker.take(number, chunk);
            giveBack(chunk);
          });
    } finally {
      closeIdleSource();
    }
  }

  /** Makes the run end with an exception; may be called from any thread. */
  void stop() {
    chunks.stop();
  }

  private void work() throws IOException {
    RecordSyntax.ChunkParser parser = parsers.get();
    for (Chunk chunk = awaitEmpty(); chunk != null && fill(chunk); chunk = awaitEmpty()) {
      parse(chunk, parser);
    }
  }

  /** Fills and numbers the chunk; false at the end of the source or of the run. */
  private boolean fill(Chunk chunk) throws InterruptedIOException {
    if (!awaitSource()) {
      return false;
    }
    boolean filled = false;
    Throwable failure = null;
    try {
      filled = source.fill(chunk);
    } catch (Throwable thrown) {
      failure = thrown;
    }
    releaseSource(chunk, filled, failure);
    return filled;
  }

  private synchronized boolean awaitSource() throws InterruptedIOException {
    if (!chunks.await(() -> sourceUser == null && heldBytes <= MAX_HELD) || sourceEnded) {
      return false;
    }
    sourceUser = Thread.currentThread();
    if (sourceMayBlock) {
      chunks.leaveBehind(sourceUser);
    }
    return true;
  }

  private synchronized void releaseSource(
      Chunk chunk, boolean filled, @Nullable Throwable failure) {
    chunk.number = numbered;
    heldBytes += chunk.bytes.length;
    if (filled) {
      numbered++;
    } else {
      sourceEnded = true;
      if (failure != null) {
        chunks.end(numbered++, failure);
      }
      chunks.setLanes(numbered);
    }
    sourceUser = null;
    chunks.leaveBehind(null);
    notifyAll();
    if (chunks.isStopped()) {
      closeSource(); // the run may have ended without closing it
    }
  }

  private void parse(Chunk chunk, RecordSyntax.ChunkParser parser) {
    Throwable failure = null;
    try {
      if (chunk.beyondHolding == null) {
        parser.parse(chunk);
      } else {
        chunk.addBad(chunk.beyondHolding, null, 0, 0, chunk.to);
      }
    } catch (OutOfMemoryError full) {
      if (isOrdinary(chunk)) {
        failure = full;
      } else {
        chunk.bad.clear();
        chunk.addBad(Defect.TOO_LONG_FOR_HEAP, null, 0, 0, 0);
      }
    } catch (Throwable thrown) {
      failure = thrown;
    }
    end(chunk, failure);
  }

  private boolean isOrdinary(Chunk chunk) {
    return chunk.bytes.length <= chunkBytes;
  }

  private synchronized @Nullable Chunk awaitEmpty() throws InterruptedIOException {
    if (!chunks.await(() -> !empty.isEmpty() || chunksToMake > 0)) {
      return null;
    }
    Chunk used = empty.poll();
    if (used == null) {
      chunksToMake--;
      return new Chunk(chunkBytes, batches.get(), options);
    }
    return used;
  }

  private synchronized void end(Chunk chunk, @Nullable Throwable failure) {
    if (failure == null) {
      chunks.add(chunk.number, chunk);
    }
    chunks.end(chunk.number, failure);
  }

  private synchronized void giveBack(Chunk chunk) {
    heldBytes -= chunk.bytes.length;
    if (isOrdinary(chunk)) {
      empty.add(chunk);
    } else {
      chunksToMake++; // a chunk that grew for one long record is not reused
    }
    notifyAll();
  }

  private synchronized void closeIdleSource() {
    if (sourceUser == null) {
      closeSource();
    }
  }

  private void closeSource() {
    try {
      source.close();
    } catch (IOException afterReading) {
      // a source that was only read loses nothing, and the failure that ended the run matters more
    }
  }
}
