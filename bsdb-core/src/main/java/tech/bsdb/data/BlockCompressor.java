package tech.bsdb.data;

import com.github.luben.zstd.ZstdCompressCtx;
import com.github.luben.zstd.ZstdDictCompress;
import java.io.Closeable;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Compresses blocks of records, each into its own ZSTD frame (FORMAT.md §4). Thread-safe. A frame
 * depends only on the raw bytes, the level and the dictionary.
 */
public final class BlockCompressor implements Closeable {
  /**
   * Maximum size of a compressed record, in bytes. Larger records are stored uncompressed, since
   * their ZSTD frame would need a second array of that size.
   */
  public static final long MOST = 64L << 20;

  private final int level;
  private final @Nullable ZstdDictCompress dictionary;
  private final ConcurrentLinkedQueue<ZstdCompressCtx> idle = new ConcurrentLinkedQueue<>();

  /**
   * Creates a compressor.
   *
   * @param level the ZSTD level, 1 to 22
   * @param dictionary the ZSTD dictionary, or null for none
   */
  public BlockCompressor(int level, byte @Nullable [] dictionary) {
    this.level = level;
    this.dictionary = dictionary == null ? null : new ZstdDictCompress(dictionary, level);
  }

  /**
   * Compresses the bytes from {@code from} to {@code to}.
   *
   * @return the frame, or null if it is not smaller than the bytes, which are then stored
   */
  public byte @Nullable [] frame(byte[] raw, int from, int to) {
    ZstdCompressCtx kept = idle.poll();
    ZstdCompressCtx context = kept == null ? context() : kept;
    try {
      byte[] frame = context.compress(Arrays.copyOfRange(raw, from, to));
      return frame.length < to - from ? frame : null;
    } finally {
      idle.add(context);
    }
  }

  private ZstdCompressCtx context() {
    ZstdCompressCtx context = new ZstdCompressCtx();
    context
        .setLevel(level)
        .setMagicless(true)
        .setContentSize(false)
        .setChecksum(false)
        .setDictID(false);
    if (dictionary != null) {
      context.loadDict(dictionary);
    }
    return context;
  }

  /**
   * Frees native memory. No thread may be compressing: freeing a context in use would crash the
   * process.
   */
  @Override
  public void close() {
    for (ZstdCompressCtx context = idle.poll(); context != null; context = idle.poll()) {
      context.close();
    }
    if (dictionary != null) {
      dictionary.close();
    }
  }
}
