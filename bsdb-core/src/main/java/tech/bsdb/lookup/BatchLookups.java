package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.directory.EngineChoice;

/**
 * Looks up many keys with many reads in flight: as soon as one lookup finishes, the next takes its
 * place. Not thread-safe.
 */
final class BatchLookups implements QueuedLookups.Answers<KeyBatch>, Closeable {
  private final Route route;
  private final QueuedLookups<KeyBatch> lookups;
  private @Nullable Throwable failure;

  /** Creates lookups with a queue of their own, which {@link #close} closes. */
  BatchLookups(Route route, EngineChoice.Chosen engines) throws IOException {
    this.route = route;
    this.lookups = new QueuedLookups<>(route, engines, false, Values.separate(), this);
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Probe probe) throws IOException {
    failure = null;
    lookups.useValues(batch.destination());
    for (int i = 0; i < batch.size() && failure == null; i++) {
      byte[] key = batch.key(i);
      Locator locator = route.of(key);
      boolean placed = batch.isPlaced();
      long place = placed ? batch.place(i) : locator.start(key, probe.signature);
      if (!placed && place == Locator.ABSENT) {
        batch.note(i, null);
      } else {
        while (lookups.isFull()) {
          lookups.await(1);
        }
        lookups.begin(locator, placed ? locator.reads() - 1 : 0, place, key, batch, i);
      }
    }
    while (lookups.pending() > 0) {
      lookups.await(1);
    }
    if (failure instanceof IOException e) {
      throw e;
    } else if (failure instanceof RuntimeException e) {
      throw e;
    } else if (failure instanceof Error e) {
      throw e;
    }
  }

  @Override
  public void answer(KeyBatch batch, int number, byte @Nullable [] array, @Nullable Throwable why) {
    if (why != null) {
      failure = failure == null ? why : failure;
    } else {
      batch.note(number, array);
    }
  }

  /** Releases memory that only large records need. */
  void trim() {
    lookups.trim();
  }

  @Override
  public void close() throws IOException {
    lookups.close();
  }
}
