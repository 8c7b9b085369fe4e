package tech.bsdb.lookup;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Values;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.io.ReadQueue;

/**
 * Looks up many keys with many reads in flight: as soon as one lookup finishes, the next takes its
 * place. Belongs to a {@link Session}.
 */
final class BatchLookups implements QueuedLookups.Answers<KeyBatch>, Closeable {
  private final LookupPath path;
  private final QueuedLookups<KeyBatch> lookups;
  private @Nullable Throwable failure;

  /** Creates lookups over a queue, which {@link #close} closes. */
  BatchLookups(LookupPath path, ReadQueue queue, boolean indexQueued, boolean recordsQueued) {
    this.path = path;
    this.lookups =
        new QueuedLookups<>(path, queue, indexQueued, recordsQueued, Values.separate(), this);
  }

  /** Looks up all keys of a batch. */
  void run(KeyBatch batch, Session session) throws IOException {
    failure = null;
    lookups.useValues(batch.destination());
    for (int i = 0; i < batch.size() && failure == null; i++) {
      byte[] key = batch.key(i);
      long slot = path.slot(key, session.signature);
      if (slot == HashFunction.ABSENT) {
        batch.note(i, null);
      } else {
        while (lookups.isFull()) {
          lookups.await(1);
        }
        lookups.begin(slot, key, batch, i);
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
