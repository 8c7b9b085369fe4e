package tech.bsdb.tools.input;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Parses a source's chunks in several threads and has them taken in the order of the input in one.
 *
 * <p>There is a fixed number of chunks, so memory is bounded; where long records make them large,
 * fewer of them. A worker takes an empty chunk, then its turn at the source, where the chunk gets
 * its bytes and its number, and parses it outside; the thread in {@link #run} takes the parsed
 * chunks by their numbers and gives them back. A chunk with a number is always on its way to being
 * taken, so that nobody waits for ever; an exception travels in its chunk, so that what comes first
 * in the input is reported whatever the threads do.
 *
 * <p>Workers are never interrupted. When the run ends, they end after the chunk at hand; one that
 * waits for standard input or a pipe is left behind, a daemon, and ends when that does.
 */
final class ParsePipeline {

  /** Takes parsed chunks in the order of the input. */
  @FunctionalInterface
  interface Taker {
    /** Takes a chunk, which is the pipeline's again afterwards. */
    void take(Chunk chunk) throws IOException;
  }

  /** Bytes of chunks on their way after which the next waits; only long records reach it. */
  private static final long MOST_HELD = Runtime.getRuntime().maxMemory() / 8;

  private final ChunkSource source;
  private final boolean sourceMayBlock;
  private final RecordSyntax syntax;
  private final Supplier<Batch> batches;
  private final int threads;
  private final int chunkBytes;

  // All below is guarded by this.
  private final Deque<Chunk> empty = new ArrayDeque<>();
  private int chunksToMake;
  private long heldBytes;
  private final Map<Long, Chunk> parsed = new HashMap<>();
  private long numbered;
  private @Nullable Thread sourceUser;
  private boolean sourceEnded;
  private final List<Thread> workers = new ArrayList<>();
  private boolean stopped;
  private @Nullable Throwable workerFailure;

  ParsePipeline(
      ChunkSource source,
      RecordSyntax syntax,
      Supplier<Batch> batches,
      int threads,
      int chunkBytes) {
    this.source = source;
    this.sourceMayBlock = source.mayBlock();
    this.syntax = syntax;
    this.batches = batches;
    this.threads = threads;
    this.chunkBytes = chunkBytes;
    this.chunksToMake = 2 * threads + 2;
  }

  /**
   * Parses everything; to be called once.
   *
   * @throws IOException if reading or parsing fails, or the taker does; all workers have ended then
   */
  void run(Taker taker) throws IOException {
    try {
      start();
      long next = 0;
      for (Chunk chunk = awaitParsed(next); chunk != null; chunk = awaitParsed(next)) {
        if (chunk.failure != null) {
          throw Workers.rethrown(chunk.failure);
        }
        taker.take(chunk);
        giveBack(chunk);
        next++;
      }
    } finally {
      stop();
      awaitWorkers();
    }
  }

  /** Makes the run end with an exception, from any thread. */
  synchronized void stop() {
    stopped = true;
    notifyAll();
  }

  private void start() {
    for (int i = 1; i <= threads; i++) {
      Thread worker = new Thread(this::work, "bsdb-input-" + i);
      worker.setDaemon(true);
      synchronized (this) {
        worker.start();
        workers.add(worker);
      }
    }
  }

  private void work() {
    try {
      RecordSyntax.ChunkParser parser = syntax.newParser();
      for (Chunk chunk = awaitEmpty(); chunk != null && fill(chunk); chunk = awaitEmpty()) {
        if (chunk.failure == null) {
          parse(chunk, parser);
        }
        setParsed(chunk);
      }
    } catch (Throwable failure) {
      fail(failure);
    }
  }

  /** Gives the chunk its bytes and its number; false if there are no more or nobody wants them. */
  private boolean fill(Chunk chunk) throws InterruptedIOException {
    if (!awaitSource()) {
      return false;
    }
    boolean filled = true;
    try {
      filled = source.fill(chunk);
    } catch (Throwable failure) {
      chunk.failure = failure;
    }
    return releaseSource(chunk, filled);
  }

  private synchronized boolean awaitSource() throws InterruptedIOException {
    Workers.await(this, () -> (sourceUser == null && heldBytes <= MOST_HELD) || stopped);
    if (stopped || sourceEnded) {
      return false;
    }
    sourceUser = Thread.currentThread();
    return true;
  }

  private synchronized boolean releaseSource(Chunk chunk, boolean filled) {
    chunk.number = numbered;
    numbered += filled ? 1 : 0;
    heldBytes += chunk.bytes.length;
    sourceEnded = !filled || chunk.failure != null;
    sourceUser = null;
    notifyAll();
    if (stopped) {
      closeSource(); // whoever stopped left it to its user
    }
    return filled;
  }

  private void parse(Chunk chunk, RecordSyntax.ChunkParser parser) {
    try {
      if (chunk.beyondHolding == null) {
        parser.parse(chunk);
      } else {
        chunk.badRecords.add(chunk.beyondHolding, 0, 0, chunk.to);
      }
    } catch (OutOfMemoryError full) {
      if (isOrdinary(chunk)) {
        chunk.failure = full;
      } else {
        chunk.badRecords.clear();
        chunk.badRecords.add(Defect.TOO_LONG_FOR_HEAP, 0, 0, 0);
      }
    } catch (Throwable failure) {
      chunk.failure = failure;
    }
  }

  private boolean isOrdinary(Chunk chunk) {
    return chunk.bytes.length <= chunkBytes;
  }

  private synchronized @Nullable Chunk awaitEmpty() throws InterruptedIOException {
    Workers.await(this, () -> !empty.isEmpty() || chunksToMake > 0 || stopped);
    if (stopped) {
      return null;
    }
    Chunk used = empty.poll();
    return used == null ? newChunk() : used;
  }

  private Chunk newChunk() {
    chunksToMake--;
    return new Chunk(chunkBytes, batches.get());
  }

  private synchronized void setParsed(Chunk chunk) {
    parsed.put(chunk.number, chunk);
    notifyAll();
  }

  private synchronized void fail(Throwable failure) {
    workerFailure = failure;
    notifyAll();
  }

  /** The chunk with that number, or null if there are fewer. */
  private synchronized @Nullable Chunk awaitParsed(long number) throws IOException {
    Workers.await(
        this,
        () -> parsed.containsKey(number) || isEnd(number) || workerFailure != null || stopped);
    Chunk chunk = parsed.remove(number);
    if (chunk != null || isEnd(number)) {
      return chunk;
    }
    if (workerFailure != null) {
      throw Workers.rethrown(workerFailure);
    }
    throw new InputException("stopped before the end of the input");
  }

  private boolean isEnd(long number) {
    return sourceEnded && number == numbered;
  }

  private synchronized void giveBack(Chunk chunk) {
    heldBytes -= chunk.bytes.length;
    if (isOrdinary(chunk)) {
      empty.add(chunk);
    } else {
      chunksToMake++; // what one long record made grow would stay so for all the rest
    }
    notifyAll();
  }

  private void awaitWorkers() {
    Workers.join(workersToAwait());
    synchronized (this) {
      if (sourceUser == null) {
        closeSource();
      }
    }
  }

  private synchronized List<Thread> workersToAwait() {
    List<Thread> awaited = new ArrayList<>(workers);
    if (sourceMayBlock) {
      awaited.remove(sourceUser);
    }
    return awaited;
  }

  private void closeSource() {
    try {
      source.close();
    } catch (IOException afterReading) {
      // nothing was written to it that could be lost, and what ended the run matters more
    }
  }
}
