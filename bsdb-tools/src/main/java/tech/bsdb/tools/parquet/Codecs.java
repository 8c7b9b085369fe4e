package tech.bsdb.tools.parquet;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import net.jpountz.lz4.LZ4Exception;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.brotli.dec.BrotliInputStream;
import org.xerial.snappy.Snappy;

/**
 * Decompresses Parquet pages with the compression libraries directly, so that neither Hadoop's
 * codecs nor its native code is needed. Checks that every page is as long as its header says.
 * Thread-safe.
 *
 * @see <a href="https://github.com/apache/parquet-format/blob/master/Compression.md">the codecs</a>
 */
final class Codecs implements CompressionCodecFactory {
  private static final LZ4SafeDecompressor LZ4 = LZ4Factory.safeInstance().safeDecompressor();

  /** Decompresses a whole page. */
  @FunctionalInterface
  private interface Codec {
    /** Fills {@code to}; fails unless the output has exactly that length. */
    void decompress(byte[] from, byte[] to) throws IOException;
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName name) {
    return switch (name) {
      case UNCOMPRESSED -> new Decompressor(name, Codecs::copy);
      case SNAPPY -> new Decompressor(name, Codecs::snappy);
      case GZIP -> new Decompressor(name, Codecs::gzip);
      case ZSTD -> new Decompressor(name, Codecs::zstd);
      case LZ4_RAW -> new Decompressor(name, Codecs::lz4);
      case LZ4 -> new Decompressor(name, Codecs::lz4InFrames);
      case BROTLI -> new Decompressor(name, Codecs::brotli);
      case LZO ->
          throw new UnsupportedOperationException(
              "compressed with LZO, which is not supported (write the file with another codec)");
    };
  }

  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName name) {
    throw new UnsupportedOperationException("files are read only");
  }

  @Override
  public void release() {}

  private record Decompressor(CompressionCodecName name, Codec codec)
      implements BytesInputDecompressor {

    @Override
    public BytesInput decompress(BytesInput bytes, int size) throws IOException {
      byte[] from = bytes.toInputStream().readNBytes(Math.toIntExact(bytes.size()));
      return BytesInput.from(decompress(from, size));
    }

    @Override
    public void decompress(ByteBuffer input, int compressed, ByteBuffer output, int size)
        throws IOException {
      byte[] from = new byte[compressed];
      input.get(from);
      output.put(decompress(from, size));
    }

    private byte[] decompress(byte[] from, int size) throws IOException {
      if (size < 0) {
        throw new IOException("damaged: a page of " + size + " bytes");
      }
      byte[] to = new byte[size];
      try {
        if (size > 0) {
          codec.decompress(from, to);
        }
        return to;
      } catch (IOException | ZstdException | LZ4Exception | IllegalArgumentException e) {
        throw new IOException("damaged: a page is not valid " + name + ": " + e.getMessage(), e);
      }
    }

    @Override
    public void release() {}
  }

  private static void copy(byte[] from, byte[] to) throws IOException {
    checkLength(from.length, to);
    System.arraycopy(from, 0, to, 0, to.length);
  }

  private static void snappy(byte[] from, byte[] to) throws IOException {
    checkLength(Snappy.uncompressedLength(from), to);
    checkLength(Snappy.uncompress(from, 0, from.length, to, 0), to);
  }

  private static void gzip(byte[] from, byte[] to) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(from), 1 << 14)) {
      readAll(in, to);
    }
  }

  private static void zstd(byte[] from, byte[] to) throws IOException {
    checkLength(Zstd.decompressByteArray(to, 0, to.length, from, 0, from.length), to);
  }

  private static void lz4(byte[] from, byte[] to) throws IOException {
    checkLength(LZ4.decompress(from, 0, from.length, to, 0), to);
  }

  /**
   * Decompresses LZ4 in Hadoop's framing: the uncompressed length, then pieces of compressed length
   * and bytes. Some writers omit the framing without marking it.
   */
  private static void lz4InFrames(byte[] from, byte[] to) throws IOException {
    if (!decompressFrames(from, to)) {
      lz4(from, to);
    }
  }

  /** Returns false if the bytes are not exactly a sequence of such frames. */
  private static boolean decompressFrames(byte[] from, byte[] to) {
    ByteBuffer frames = ByteBuffer.wrap(from);
    try {
      int at = 0;
      while (frames.remaining() > 0) {
        int end = Math.addExact(at, frames.getInt());
        while (at < end) {
          int length = frames.getInt();
          at += LZ4.decompress(from, frames.position(), length, to, at, end - at);
          frames.position(frames.position() + length);
        }
      }
      return at == to.length;
    } catch (LZ4Exception
        | BufferUnderflowException
        | IllegalArgumentException
        | IndexOutOfBoundsException
        | ArithmeticException none) {
      return false;
    }
  }

  private static void brotli(byte[] from, byte[] to) throws IOException {
    try (InputStream in = new BrotliInputStream(new ByteArrayInputStream(from))) {
      readAll(in, to);
    }
  }

  private static void readAll(InputStream in, byte[] to) throws IOException {
    checkLength(in.readNBytes(to, 0, to.length), to);
    if (in.read() >= 0) {
      throw new IOException("longer than the " + to.length + " bytes of its header");
    }
  }

  private static void checkLength(long found, byte[] to) throws IOException {
    if (found != to.length) {
      throw new IOException(found + " bytes, not the " + to.length + " of its header");
    }
  }
}
