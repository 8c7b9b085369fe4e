package tech.bsdb.tools.input;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** Cuts one file's bytes into chunks of whole records. */
final class ChunkReader implements Closeable {
  /** The longest record that can be held, in bytes: it fits in an array with its line end. */
  static final int LONGEST_RECORD = Integer.MAX_VALUE - 9;

  /** Bytes kept of a longer record. */
  private static final int KEPT_OF_TOO_LONG = 1 << 16;

  private static final int PIECE = 1 << 16;

  private final InputStream in;
  private final RecordSyntax.RecordEnds ends;
  private final int size;
  private final int longest;

  /**
   * The bytes after the last chunk's end, which start the next chunk. The first {@code seen} of
   * them have been searched for record ends.
   */
  private byte[] carried = new byte[0];

  private int carriedBytes;
  private int seen;
  private boolean ended;

  /**
   * Reads chunks from the stream and owns it.
   *
   * @param size the size of a chunk in bytes; a chunk is larger if its first record is
   * @param longest the longest record to hold, in bytes, at most {@link #LONGEST_RECORD}
   */
  ChunkReader(InputStream in, RecordSyntax.RecordEnds ends, int size, int longest) {
    this.in = in;
    this.ends = ends;
    this.size = size;
    this.longest = longest;
  }

  /** Fills the chunk's bytes; returns false if there are no more. */
  boolean fill(Chunk chunk) throws IOException {
    int length = takeCarried(chunk);
    int end = ends.lastEnd(chunk.bytes, seen, length);
    while (!ended && (length < size || end < 0)) {
      if (length == chunk.bytes.length && !grow(chunk)) {
        skipRecord(chunk, length);
        return true;
      }
      int count = in.read(chunk.bytes, length, Math.min(PIECE, chunk.bytes.length - length));
      if (count < 0) {
        ended = true;
      } else {
        end = Math.max(end, ends.lastEnd(chunk.bytes, length, length + count));
        length += count;
      }
    }
    chunk.to = ended ? length : end;
    carry(chunk.bytes, chunk.to, length);
    seen = carriedBytes;
    return length > 0;
  }

  private int takeCarried(Chunk chunk) {
    if (chunk.bytes.length < carriedBytes) {
      chunk.bytes = new byte[carriedBytes];
    }
    System.arraycopy(carried, 0, chunk.bytes, 0, carriedBytes);
    return carriedBytes;
  }

  private void carry(byte[] bytes, int from, int to) {
    if (carried.length < to - from) {
      carried = new byte[to - from];
    }
    System.arraycopy(bytes, from, carried, 0, to - from);
    carriedBytes = to - from;
  }

  private boolean grow(Chunk chunk) {
    int capacity = (int) Math.min(longest + 1L, Math.max(size, chunk.bytes.length * 2L));
    if (capacity <= chunk.bytes.length) {
      chunk.beyondHolding = Defect.LINE_TOO_LONG;
      return false;
    }
    try {
      chunk.bytes = Arrays.copyOf(chunk.bytes, capacity);
      return true;
    } catch (OutOfMemoryError full) {
      chunk.beyondHolding = Defect.TOO_LONG_FOR_HEAP;
      return false;
    }
  }

  /** Skips to the end of the chunk's first record and keeps only its beginning. */
  private void skipRecord(Chunk chunk, int held) throws IOException {
    long lineFeeds = lineFeeds(chunk.bytes, held);
    chunk.to = Math.min(held, KEPT_OF_TOO_LONG);
    byte[] piece = new byte[PIECE];
    byte last = chunk.bytes[held - 1];
    int end = -1;
    while (end < 0) {
      int count = in.read(piece, 0, piece.length);
      if (count < 0) {
        ended = true;
        chunk.units = lineFeeds + (last == '\n' ? 0 : 1);
        carriedBytes = 0;
        return;
      }
      last = count > 0 ? piece[count - 1] : last;
      end = ends.firstEnd(piece, 0, count);
      lineFeeds += lineFeeds(piece, end < 0 ? count : end);
      carry(piece, Math.max(end, 0), count);
    }
    seen = 0;
    chunk.units = lineFeeds;
  }

  private static long lineFeeds(byte[] bytes, int to) {
    long count = 0;
    for (int i = 0; i < to; i++) {
      count += bytes[i] == '\n' ? 1 : 0;
    }
    return count;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
