package tech.bsdb.read;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.data.Scratch;
import tech.bsdb.data.Values;
import tech.bsdb.hash.Signature;
import tech.bsdb.io.Extent;

/** What one look-up needs for itself, kept for the next one. Belongs to one thread at a time. */
final class Session {
  final int place;
  final Signature signature = new Signature();
  final Extent index = new Extent();
  final Extent data = new Extent();
  final Values values = Values.apart();
  final Scratch scratch = new Scratch();

  /** For batches in mapped files, once there was one. */
  @Nullable StagedLookups staged;

  /** For batches through a queue of reads, once there was one. */
  @Nullable BatchLookups queued;

  Session(int place) {
    this.place = place;
  }

  /** Frees what is not the garbage collector's; a queue that cannot be closed is let go. */
  void close() {
    scratch.close();
    if (queued != null) {
      try {
        queued.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } finally {
        queued = null;
      }
    }
  }
}
