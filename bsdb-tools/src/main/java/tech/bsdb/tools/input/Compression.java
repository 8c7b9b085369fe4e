package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** The compression of a file, determined by the last suffix of its name, or else by its magic. */
enum Compression {
  NONE,
  GZIP,
  ZSTD;

  /** The largest window that ZSTD supports; files made with {@code zstd --long=31} need it. */
  private static final int LARGEST_WINDOW_LOG = 31;

  private static final byte[] GZIP_MAGIC = {0x1F, (byte) 0x8B, 8};
  private static final byte[] FRAME = {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD};
  private static final byte[] SKIPPED_FRAME = {0x50, 0x2A, 0x4D, 0x18};

  /** The number of bytes by which a format is known. */
  private static final int MAGIC = 10;

  /** Formats that cannot be read, and how they begin; each character is a byte. */
  private static final Map<String, Pattern> OTHERS =
      Map.of(
          "bzip2", Pattern.compile("BZh[1-9]1AY&SY"),
          "xz", Pattern.compile("\\xFD7zXZ\\x00"),
          "zip", Pattern.compile("PK\\x03\\x04"),
          "7z", Pattern.compile("7z\\xBC\\xAF\\x27\\x1C"),
          "LZ4", Pattern.compile("\\x04\\x22M\\x18"),
          "Snappy", Pattern.compile("\\xFF\\x06\\x00\\x00sNaPpY"));

  /**
   * Returns the compression of a file: what its name says, or else its first bytes.
   *
   * @throws IOException if it is compressed in a format that cannot be read
   */
  static Compression of(Path file) throws IOException {
    Compression named = of(file.toString());
    if (named != NONE || !Files.isRegularFile(file)) {
      return named;
    }
    try (InputStream in = Files.newInputStream(file)) {
      return byMagic(in.readNBytes(MAGIC));
    }
  }

  /**
   * Decompresses bytes of which no name tells the compression. Waits for no more of them than tell
   * that there is none: someone may type them.
   */
  static InputStream decompressByMagic(InputStream bytes) throws IOException {
    PushbackInputStream peeked = new PushbackInputStream(bytes, MAGIC);
    byte[] start = {};
    while (start.length < MAGIC && mayBegin(start)) {
      int next = peeked.read();
      if (next < 0) {
        break;
      }
      start = Arrays.copyOf(start, start.length + 1);
      start[start.length - 1] = (byte) next;
    }
    peeked.unread(start);
    return byMagic(start).decompress(peeked);
  }

  /** Whether compressed bytes may begin with these, and more are needed to tell. */
  private static boolean mayBegin(byte[] start) {
    String text = new String(start, ISO_8859_1);
    return (start.length < GZIP_MAGIC.length && beginsAs(GZIP_MAGIC, start, 0xFF))
        || (start.length < FRAME.length && beginsAs(FRAME, start, 0xFF))
        || OTHERS.values().stream()
            .map(other -> other.matcher(text))
            .anyMatch(other -> !other.lookingAt() && other.hitEnd());
  }

  private static Compression byMagic(byte[] start) throws IOException {
    if (start.length >= GZIP_MAGIC.length && beginsAs(GZIP_MAGIC, start, 0xFF)) {
      return GZIP;
    }
    if (start.length >= FRAME.length && beginsAs(FRAME, start, 0xFF)) {
      return ZSTD;
    }
    String text = new String(start, ISO_8859_1);
    for (Map.Entry<String, Pattern> other : OTHERS.entrySet()) {
      if (other.getValue().matcher(text).lookingAt()) {
        throw new IOException(
            "is in the format of "
                + other.getKey()
                + ", which cannot be read; decompress it first, or into standard input (-i -)");
      }
    }
    return NONE;
  }

  static Compression of(String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT);
    if (name.endsWith(".gz")) {
      return GZIP;
    }
    return name.endsWith(".zst") || name.endsWith(".zstd") ? ZSTD : NONE;
  }

  /**
   * The decompressed bytes of all members or frames, in order. Reading fails if the compressed
   * bytes are damaged, truncated, or followed by anything else. A file of no bytes is truncated.
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
      throw new EOFException("truncated: the Zstandard data ends before its end");
    }
    if (!beginsAs(FRAME, start, 0xFF) && !beginsAs(SKIPPED_FRAME, start, 0xF0)) {
      throw new IOException(
          "not in Zstandard format"
              + (beginsAs(GZIP_MAGIC, start, 0xFF) ? ", but in that of gzip: name it .gz" : ""));
    }
    return new ZstdInputStreamNoFinalizer(peeked).setLongMax(LARGEST_WINDOW_LOG);
  }

  /**
   * Whether bytes begin with the magic number, as far as they go; the first is compared by {@code
   * mask}.
   */
  private static boolean beginsAs(byte[] magic, byte[] start, int mask) {
    for (int i = 0; i < Math.min(magic.length, start.length); i++) {
      if (((magic[i] ^ start[i]) & (i == 0 ? mask : 0xFF)) != 0) {
        return false;
      }
    }
    return true;
  }
}
