package tech.bsdb.lookup;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/** What one lookup needs for itself, kept for the next one. Belongs to one thread at a time. */
final class Session {
  /** More guests than this keep no queue: it costs two descriptors. */
  private static final int GUESTS_WITH_QUEUES = 64;

  /** A guest keeps no more memory than this for each of the things that it reads into, in bytes. */
  private static final int KEEP = 64 << 10;

  /** Its place in {@link Sessions}, or -1 for a guest. */
  final int place;

  /** Its number among the guests that are kept, or -1. */
  final int guest;

  /** Of a guest that is back: one more than the number of the one that came back before, or 0. */
  int below;

  final Signature signature = new Signature();
  final Extent index = new Extent();
  final Extent data = new Extent();
  final Values values = Values.separate();
  final Scratch scratch = new Scratch();

  /** For batches in mapped files, once there was one. */
  @Nullable StagedLookups staged;

  /** For batches through a queue of reads, once there was one. */
  @Nullable BatchLookups queued;

  private Session(int place, int guest) {
    this.place = place;
    this.guest = guest;
  }

  /** The session of a place. */
  static Session ofPlace(int place) {
    return new Session(place, -1);
  }

  /** A guest that is kept. */
  static Session guest(int number) {
    return new Session(-1, number);
  }

  /** A guest that ends when it is given back. */
  static Session transientGuest() {
    return new Session(-1, -1);
  }

  /**
   * Lets go of what is too much to be kept for each of many guests.
   *
   * @throws UncheckedIOException if a queue cannot be closed; it is let go
   */
  void trim() {
    index.trim(KEEP);
    data.trim(KEEP);
    scratch.trim(KEEP);
    BatchLookups open = queued;
    if (open != null) {
      if (guest < GUESTS_WITH_QUEUES) {
        open.trim();
      } else {
        closeQueue(open);
      }
    }
  }

  /**
   * Frees what is not the garbage collector's.
   *
   * @throws UncheckedIOException if a queue cannot be closed; it is let go
   */
  void close() {
    scratch.close();
    BatchLookups open = queued;
    if (open != null) {
      closeQueue(open);
    }
  }

  private void closeQueue(BatchLookups open) {
    queued = null;
    try {
      open.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
