package tech.bsdb.tools.input;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.util.Locale;

/** The compression of a file, determined by the last suffix of its name. */
enum Compression {
  NONE,
  GZIP,
  ZSTD;

  /** The largest window that ZSTD supports; files made with {@code zstd --long=31} need it. */
  private static final int LARGEST_WINDOW_LOG = 31;

  private static final byte[] FRAME = {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD};
  private static final byte[] SKIPPED_FRAME = {0x50, 0x2A, 0x4D, 0x18};

  static Compression of(String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT);
    if (name.endsWith(".gz")) {
      return GZIP;
    }
    return name.endsWith(".zst") || name.endsWith(".zstd") ? ZSTD : NONE;
  }

  /**
   * The decompressed bytes of all members or frames, in order. Reading fails if the compressed
   * bytes are damaged, truncated, or followed by anything else. An empty file has no text.
   */
  InputStream decompress(InputStream compressed) throws IOException {
    return switch (this) {
      case NONE -> compressed;
      case GZIP -> new GzipMembers(compressed);
      case ZSTD -> zstd(compressed);
    };
  }

  private static InputStream zstd(InputStream compressed) throws IOException {
    PushbackInputStream peeked = new PushbackInputStream(compressed, FRAME.length);
    byte[] start = peeked.readNBytes(FRAME.length);
    peeked.unread(start);
    if (start.length == 0) {
      return peeked; // an empty file has no frame, and no text
    }
    if (!beginsAs(FRAME, start, 0xFF) && !beginsAs(SKIPPED_FRAME, start, 0xF0)) {
      throw new IOException("not in Zstandard format");
    }
    return new ZstdInputStreamNoFinalizer(peeked).setLongMax(LARGEST_WINDOW_LOG);
  }

  /**
   * Whether bytes begin with the magic number, as far as they go; the first is compared by {@code
   * mask}.
   */
  private static boolean beginsAs(byte[] magic, byte[] start, int mask) {
    for (int i = 0; i < start.length; i++) {
      if (((magic[i] ^ start[i]) & (i == 0 ? mask : 0xFF)) != 0) {
        return false;
      }
    }
    return true;
  }
}
