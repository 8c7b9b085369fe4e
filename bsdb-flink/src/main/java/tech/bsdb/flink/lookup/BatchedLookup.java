package tech.bsdb.flink.lookup;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.functions.AsyncLookupFunction;
import org.apache.flink.table.functions.FunctionContext;
import org.jspecify.annotations.Nullable;
import tech.bsdb.flink.lookup.LookupTable.LookupPlan;

/**
 * Looks up rows on threads of its own, in batches: while one is looked up, the next one gathers.
 */
public final class BatchedLookup extends AsyncLookupFunction {
  private static final long serialVersionUID = 1L;

  private final LookupPlan plan;
  private transient @Nullable Batches batches;

  BatchedLookup(LookupPlan plan) {
    this.plan = plan;
  }

  @Override
  public void open(FunctionContext context) throws IOException {
    batches = new Batches(plan, context);
  }

  @Override
  public CompletableFuture<Collection<RowData>> asyncLookup(RowData asked) {
    return Objects.requireNonNull(batches, "not open").add(asked);
  }

  @Override
  public void close() {
    Batches opened = batches;
    batches = null;
    if (opened != null) {
      opened.close();
    }
  }

  /** A row that waits for its answer. */
  private record Waiting(RowData asked, CompletableFuture<Collection<RowData>> answer) {}

  /** What waits, and the threads that answer. {@link #add} is called by the task's thread. */
  private static final class Batches {
    private static final long END_SECONDS = 30;

    private final int most;
    private final ConcurrentLinkedQueue<Waiting> queue = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<TableReader> readers = new ConcurrentLinkedQueue<>();
    private final AtomicInteger idle;
    private final ExecutorService threads;
    private volatile boolean closed;

    Batches(LookupPlan plan, FunctionContext context) throws IOException {
      int count = plan.settings().threads();
      this.most = plan.settings().batch();
      this.idle = new AtomicInteger(count);
      this.threads =
          Executors.newFixedThreadPool(
              count,
              task -> {
                Thread thread = new Thread(task, "bsdb-flink-lookup");
                thread.setDaemon(true);
                return thread;
              });
      try {
        for (int i = 0; i < count; i++) {
          readers.add(
              new TableReader(
                  plan, context.getMetricGroup().addGroup("bsdbThread", String.valueOf(i))));
        }
      } catch (IOException | RuntimeException e) {
        close();
        throw e;
      }
    }

    CompletableFuture<Collection<RowData>> add(RowData asked) {
      Waiting waiting = new Waiting(asked, new CompletableFuture<>());
      queue.add(waiting);
      wake();
      return waiting.answer;
    }

    /** Starts a batch if a thread is idle; what it finds may be nothing. */
    private void wake() {
      int now = idle.get();
      while (now > 0 && !idle.compareAndSet(now, now - 1)) {
        now = idle.get();
      }
      if (now > 0) {
        try {
          threads.execute(this::answer);
        } catch (RejectedExecutionException closed) {
          List<Waiting> left = drained();
          for (; !left.isEmpty(); left = drained()) {
            fail(left, closed);
          }
        }
      }
    }

    private List<Waiting> drained() {
      List<Waiting> batch = new ArrayList<>();
      while (batch.size() < most) {
        Waiting next = queue.poll();
        if (next == null) {
          break;
        }
        batch.add(next);
      }
      return batch;
    }

    private void answer() {
      TableReader reader = Objects.requireNonNull(readers.poll());
      try {
        for (List<Waiting> batch = drained(); !batch.isEmpty(); batch = drained()) {
          answer(reader, batch);
        }
      } finally {
        readers.add(reader);
        idle.incrementAndGet();
        if (closed) {
          closeReaders();
        }
      }
      if (!queue.isEmpty()) {
        wake(); // for what came between the last look and becoming idle
      }
    }

    private static void answer(TableReader reader, List<Waiting> batch) {
      try {
        List<Waiting> asked = new ArrayList<>();
        List<byte[]> keys = new ArrayList<>();
        for (Waiting each : batch) {
          byte[] key = reader.key(each.asked);
          if (key == null) {
            each.answer.complete(List.of());
          } else {
            asked.add(each);
            keys.add(key);
          }
        }
        List<byte @Nullable []> values = reader.getAll(keys);
        for (int i = 0; i < keys.size(); i++) {
          Waiting each = asked.get(i);
          each.answer.complete(reader.found(each.asked, keys.get(i), values.get(i)));
        }
      } catch (Throwable e) { // whoever waits must learn of it
        fail(batch, e);
      }
    }

    private static void fail(List<Waiting> batch, Throwable why) {
      batch.forEach(each -> each.answer.completeExceptionally(why));
    }

    /** Ends; what is still looked up fails. */
    void close() {
      threads.shutdown();
      try {
        if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
          List<Runnable> unused = threads.shutdownNow();
        }
      } catch (InterruptedException e) {
        List<Runnable> unused = threads.shutdownNow();
        Thread.currentThread().interrupt();
      }
      closed = true;
      closeReaders();
    }

    /** Closes those that are idle; a lookup that still runs closes its own. */
    private void closeReaders() {
      for (TableReader each = readers.poll(); each != null; each = readers.poll()) {
        each.close();
      }
    }
  }
}
