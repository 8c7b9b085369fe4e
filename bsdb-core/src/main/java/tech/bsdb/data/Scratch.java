package tech.bsdb.data;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.Closeable;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/**
 * What reading a record needs besides the files, kept for the next one. Belongs to one thread at a
 * time.
 */
public final class Scratch implements Closeable {
  /** More than this is not kept for the next record. */
  private static final int KEEP = 1 << 20;

  private static final byte[] NO_BYTES = new byte[0];

  @Nullable ZstdDecompressCtx context;
  private @Nullable PayloadCursor cursor;
  private byte[] frame = NO_BYTES;
  private byte[] raw = NO_BYTES;

  /** The cursor, over a file, whose pages in the extent were read already. */
  PayloadCursor cursor(DataFile file, Extent extent, int ahead) {
    PayloadCursor kept = cursor;
    if (kept == null) {
      kept = new PayloadCursor(file, extent, ahead);
      cursor = kept;
    } else {
      kept.over(file, extent, ahead);
    }
    return kept;
  }

  /** An array for a frame of that length, or longer. */
  byte[] frame(int length) {
    if (frame.length >= length) {
      return frame;
    }
    byte[] larger = new byte[Math.max(length, 8192)];
    if (length <= KEEP) {
      frame = larger;
    }
    return larger;
  }

  /** An array for a raw block of that length, or longer. */
  byte[] raw(int length) {
    if (raw.length >= length) {
      return raw;
    }
    byte[] larger = new byte[Math.max(length, 8192)];
    if (length <= KEEP) {
      raw = larger;
    }
    return larger;
  }

  /** Lets go of arrays of more than so many bytes. */
  public void trim(int most) {
    if (frame.length > most) {
      frame = NO_BYTES;
    }
    if (raw.length > most) {
      raw = NO_BYTES;
    }
  }

  /** Frees what is not the garbage collector's. */
  @Override
  public void close() {
    if (context != null) {
      context.close();
      context = null;
    }
  }
}
