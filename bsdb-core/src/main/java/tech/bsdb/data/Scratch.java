package tech.bsdb.data;

import com.github.luben.zstd.ZstdDecompressCtx;
import java.io.Closeable;
import org.jspecify.annotations.Nullable;

/**
 * What reading a record needs besides the files, kept for the next one. Belongs to one thread at a
 * time.
 */
public final class Scratch implements Closeable {
  /** More than this is not kept for the next record. */
  private static final int KEEP = 1 << 20;

  @Nullable ZstdDecompressCtx context;
  private byte[] frame = new byte[0];
  private byte[] raw = new byte[0];

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

  /** Frees what is not the garbage collector's. */
  @Override
  public void close() {
    if (context != null) {
      context.close();
      context = null;
    }
  }
}
