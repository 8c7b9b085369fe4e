package tech.bsdb.mirror;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Runs tasks side by side. */
final class Parallel {
  private static final int MOST = 16;

  private Parallel() {}

  /** A task that reads. */
  @FunctionalInterface
  interface Task {
    void run() throws IOException;
  }

  /**
   * Runs all tasks, and waits for them.
   *
   * @throws IOException that of the first task that failed; the others are interrupted
   */
  static void run(List<Task> tasks) throws IOException {
    if (tasks.size() == 1) {
      tasks.get(0).run();
    }
    if (tasks.size() <= 1) {
      return;
    }
    ExecutorService threads =
        Executors.newFixedThreadPool(Math.min(MOST, tasks.size()), Parallel::daemon);
    try {
      ExecutorCompletionService<Boolean> all = new ExecutorCompletionService<>(threads);
      for (Task task : tasks) {
        all.submit(
            () -> {
              task.run();
              return true;
            });
      }
      for (int i = 0; i < tasks.size(); i++) {
        boolean unused = all.take().get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while a database was being opened");
    } catch (ExecutionException e) {
      throw failure(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  /** A thread that ends with the process. */
  static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "bsdb-open");
    thread.setDaemon(true);
    return thread;
  }

  /** What a task threw, to be thrown by whoever waits for it. */
  static IOException failure(@Nullable Throwable thrown) {
    if (thrown instanceof RuntimeException e) {
      throw e;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    return thrown instanceof IOException e ? e : new IOException(thrown);
  }
}
