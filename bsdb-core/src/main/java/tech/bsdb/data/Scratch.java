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
    byte[] room = room(frame, length);
    frame = kept(room, frame);
    return room;
  }

  /** An array of at least {@code length} bytes, for a raw block. */
  byte[] raw(int length) {
    byte[] room = room(raw, length);
    raw = kept(room, raw);
    return room;
  }

  /** Returns an array, or a new one if it has less than {@code length} bytes. */
  static byte[] room(byte[] array, int length) {
    return array.length >= length ? array : new byte[Math.max(length, 8192)];
  }

  /** Returns the one of two arrays to keep for reuse: the first, unless it is too large. */
  static byte[] kept(byte[] array, byte[] other) {
    return array.length <= KEEP ? array : other;
  }

  /** Releases arrays longer than {@code most} bytes, and what the cursor shows. */
  public void trim(int most) {
    if (cursor != null) {
      cursor.forget();
    }
    frame = frame.length > most ? NO_BYTES : frame;
    raw = raw.length > most ? NO_BYTES : raw;
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
