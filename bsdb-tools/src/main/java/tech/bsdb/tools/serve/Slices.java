package tech.bsdb.tools.serve;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.serve.batch.BadRequestException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;

/**
 * What {@link SlicedAnswer} writes: the answer to one request, a slice at a time. Used by one
 * thread at a time, and thread-safe in no other way.
 */
interface Slices {
  /** The most keys that are looked up for one slice. */
  int KEYS = 256;

  /** Bytes of an answer at which a slice ends. */
  int BYTES = 256 << 10;

  /** Returns what is not null from {@link #begin} on. */
  static <T> T begun(@Nullable T set) {
    if (set == null) {
      throw new IllegalStateException("not begun");
    }
    return set;
  }

  /** Takes a piece of the request's body, like {@link Action#body}. */
  default void body(ByteBuf piece) throws BadRequestException {
    // an unexpected body is ignored
  }

  /** Called when the body is complete. */
  default void bodyEnded() throws BadRequestException {}

  /** Returns the answer's media type. */
  MediaType type();

  /** Returns how many lookups the request counts as while it is in progress. */
  int weight();

  /**
   * Chooses the version that answers; called once, before the first slice.
   *
   * @param database stays open until the answer is complete
   * @param by its identity
   * @param working counts the memory that is kept from slice to slice
   * @return whether the whole answer is small and is read from memory
   * @throws RequestRefusedException if the request needs something this database does not have
   */
  boolean begin(Database database, Identity by, HeldMemory.Share working)
      throws RequestRefusedException;

  /**
   * Looks up and writes the next slice, which replaces the previous one. Until it is {@link
   * #taken}, the next call writes it again, from the start, after {@link #dropMemory}.
   *
   * @throws tech.bsdb.error.MemoryBudgetExceededException if there is no room for values
   * @throws tech.bsdb.tools.text.NoRoomException if there is no room for what is written
   * @throws ElsewhereException if another node of the cluster answers a key
   */
  void write() throws IOException, ElsewhereException;

  /** Returns the answer if the first slice could not be written, because the server failed. */
  default Reply failed() {
    return Reply.FAILED;
  }

  /** Goes on behind the slice that was written. */
  void taken();

  /** Whether the slice that was taken is the last. */
  boolean isLast();

  /** Returns the array that starts with the slice. */
  byte[] buffer();

  /** Returns the bytes of the slice; 0 if there is nothing to send yet. */
  int length();

  /** Drops what can be made again, so that an answer that waits holds little. */
  void dropMemory();
}
