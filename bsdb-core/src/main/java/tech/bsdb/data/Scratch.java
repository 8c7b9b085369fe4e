package tech.bsdb.data;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdDictDecompress;
import java.io.Closeable;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.Extent;

/** Buffers and contexts for reading records, kept for reuse. Belongs to one thread at a time. */
public final class Scratch implements Closeable {
  /** Larger arrays are not kept for reuse. */
  private static final int KEEP = 1 << 20;

  private static final byte[] NO_BYTES = new byte[0];

  @Nullable ZstdDecompressCtx context;

  /** The dictionary that the context holds: each shard of a set has its own, or none. */
  @Nullable ZstdDictDecompress dictionary;

  private @Nullable PageCursor cursor;

  /** Reads compressed blocks. */
  final BlockReader block = new BlockReader(this);

  /** For values that become arrays of their own. */
  final Values values = Values.separate();

  private byte[] frame = NO_BYTES;
  private byte[] raw = NO_BYTES;

  /** Returns the cursor, {@linkplain PageCursor#over over} an extent that has been read. */
  PageCursor cursor(DataFile file, Extent extent, int ahead) {
    PageCursor kept = cursor;
    if (kept == null) {
      kept = new PageCursor(file, extent);
      cursor = kept;
    }
    kept.over(file, extent, ahead);
    return kept;
  }

  /** An array of at least {@code length} bytes, for a frame. */
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

  /** An array of at least {@code length} bytes, for a raw block. */
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

  /** Releases arrays longer than {@code most} bytes. */
  public void trim(int most) {
    if (frame.length > most) {
      frame = NO_BYTES;
    }
    if (raw.length > most) {
      raw = NO_BYTES;
    }
  }

  /** Frees native memory. */
  @Override
  public void close() {
    ZstdDecompressCtx open = context;
    context = null;
    dictionary = null;
    if (open != null) {
      try {
        open.close();
      } catch (IllegalStateException e) {
        // A stack overflow left it locked: its memory is lost.
      }
    }
  }
}
