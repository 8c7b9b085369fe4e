package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Where new files gather what is written to them until it is worth a write. Several files can share
 * one if they are written in turns: only one of them has bytes here at a time. For one thread.
 *
 * <p>The memory is outside the heap and grows with what is gathered, so that small files cost
 * little.
 */
public final class ChunkBuffer implements Closeable {
  /**
   * Bytes of a huge page. Linux 6.16 with ext4, and XFS for longer, keep a file in pages of that
   * size if it is written in writes of that size at multiples of it; then a plain mapping shows it
   * in huge pages, too. Single lookups of 10M records are a quarter quicker there
   * (docs/BENCHMARKS.md).
   */
  public static final int HUGE_PAGE = 1 << 21;

  private static final int SMALL = 1 << 18;

  private final int most;
  private @Nullable ByteBuffer memory;
  private @Nullable SequentialFile owner;

  private ChunkBuffer(int most) {
    this.most = most;
  }

  /** One for files that are to lie in huge pages. */
  public static ChunkBuffer huge() {
    return new ChunkBuffer(HUGE_PAGE);
  }

  /** One for a file that nobody will map. */
  static ChunkBuffer small() {
    return new ChunkBuffer(SMALL);
  }

  /** Bytes of the largest write. */
  int most() {
    return most;
  }

  /** The memory, holding what {@code file} has gathered; another file's bytes leave it first. */
  @SuppressWarnings("ReferenceEquality") // is it the very file?
  ByteBuffer of(SequentialFile file) throws IOException {
    ByteBuffer current = memory;
    if (current == null) {
      current = ByteBuffer.allocateDirect(Math.min(SMALL, most));
      memory = current;
    }
    SequentialFile last = owner;
    if (last != file) {
      if (last != null) {
        last.leave(current);
      }
      current.clear();
      owner = file;
    }
    return current;
  }

  /** More memory, with the bytes that are in it. */
  ByteBuffer grown() {
    ByteBuffer from = memory;
    if (from == null) {
      throw new IllegalStateException("nothing was gathered");
    }
    ByteBuffer larger = ByteBuffer.allocateDirect(most);
    larger.put(from.flip());
    memory = larger;
    BufferCleaner.free(from);
    return larger;
  }

  /** Forgets what a file that is closed has gathered. */
  @SuppressWarnings("ReferenceEquality") // is it the very file?
  void forget(SequentialFile file) {
    if (owner == file) {
      owner = null;
    }
  }

  /** Frees the memory; the files that shared it are closed. */
  @Override
  public void close() {
    ByteBuffer last = memory;
    memory = null;
    owner = null;
    if (last != null) {
      BufferCleaner.free(last);
    }
  }
}
