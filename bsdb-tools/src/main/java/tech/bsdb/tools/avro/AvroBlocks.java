package tech.bsdb.tools.avro;

import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterOutputStream;
import org.apache.avro.NameValidator;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.xerial.snappy.Snappy;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.source.SourceInput;

/**
 * Reads the blocks of a file one after another. Avro's own reader takes a file that is cut within a
 * block, or has an empty one, for one that ends there. For one thread.
 */
final class AvroBlocks implements AutoCloseable {
  private static final byte[] MAGIC = {'O', 'b', 'j', 1};
  private static final int SYNC = 16;
  private static final int BUFFER = 1 << 16;
  private static final int MAX_BLOCK = Integer.MAX_VALUE - 8;

  /**
   * The header of a file.
   *
   * @param schema the schema of its rows
   * @param codec how its blocks are compressed
   * @param sync the marker that follows it and each block
   * @param length how long it is, with the marker
   */
  record Header(Schema schema, Codec codec, byte[] sync, long length) {}

  /** How blocks are compressed. */
  enum Codec {
    NULL,
    DEFLATE,
    SNAPPY,
    ZSTANDARD;

    static Codec of(String name) throws InputException {
      for (Codec codec : values()) {
        if (codec.name().equalsIgnoreCase(name)) {
          return codec;
        }
      }
      throw new InputException(
          "is compressed with "
              + name
              + ", which is not supported (null, deflate, snappy and zstandard are)");
    }

    /** Decompresses a block. */
    byte[] plain(byte[] block) throws IOException {
      return switch (this) {
        case NULL -> block;
        case DEFLATE -> {
          ByteArrayOutputStream plain = new ByteArrayOutputStream(2 * block.length);
          Inflater inflater = new Inflater(/* nowrap= */ true);
          try (InflaterOutputStream out = new InflaterOutputStream(plain, inflater)) {
            out.write(block);
            out.finish();
            if (!inflater.finished()) {
              throw new EOFException("its deflated data ends too early");
            }
          } finally {
            inflater.end();
          }
          yield plain.toByteArray();
        }
        case SNAPPY -> {
          int length = block.length - Integer.BYTES;
          if (length < 0) {
            throw new EOFException("its Snappy data has no checksum");
          }
          byte[] plain = new byte[Snappy.uncompressedLength(block, 0, length)];
          Snappy.uncompress(block, 0, length, plain, 0);
          CRC32 checksum = new CRC32();
          checksum.update(plain);
          if ((int) checksum.getValue() != ByteBuffer.wrap(block).getInt(length)) {
            throw new IOException("its Snappy data does not have its checksum");
          }
          yield plain;
        }
        case ZSTANDARD -> {
          try (InputStream in = new ZstdInputStreamNoFinalizer(new ByteArrayInputStream(block))) {
            yield in.readAllBytes();
          }
        }
      };
    }
  }

  private final SourceInput in;
  private final long length;
  private final byte[] buffer = new byte[BUFFER];
  private final Bytes bytes = new Bytes();
  private final BinaryDecoder numbers = DecoderFactory.get().directBinaryDecoder(bytes, null);
  private long begin;
  private int at;
  private int end;

  /** Opens a file, at its begin. */
  AvroBlocks(SourceFile file) throws IOException {
    this.in = file.open();
    this.length = file.length();
  }

  /** Returns the position of the next byte. */
  long position() {
    return begin + at;
  }

  private void seek(long position) throws IOException {
    in.seek(position);
    begin = position;
    at = 0;
    end = 0;
  }

  private boolean isFilled() throws IOException {
    if (at == end) {
      begin += end;
      at = 0;
      end = Math.max(0, in.read(buffer, 0, buffer.length));
    }
    return at < end;
  }

  /** The bytes from the position on. */
  private final class Bytes extends InputStream {
    @Override
    public int read() throws IOException {
      return isFilled() ? buffer[at++] & 0xFF : -1;
    }

    @Override
    public int read(byte[] to, int from, int count) throws IOException {
      if (!isFilled()) {
        return -1;
      }
      int read = Math.min(count, end - at);
      System.arraycopy(buffer, at, to, from, read);
      at += read;
      return read;
    }
  }

  private byte[] next(int count) throws IOException {
    byte[] read = bytes.readNBytes(count);
    if (read.length < count) {
      throw new EOFException("the file ends within it");
    }
    return read;
  }

  /**
   * Reads the header.
   *
   * @throws InputException if the codec is not supported; without the file's name
   */
  Header header() throws IOException {
    if (!Arrays.equals(bytes.readNBytes(MAGIC.length), MAGIC)) {
      throw new InputException(
          "not an Avro file (object container file): it does not begin with Obj");
    }
    Map<String, byte[]> metadata = new HashMap<>();
    for (long count = numbers.readMapStart(); count > 0; count = numbers.mapNext()) {
      for (long i = 0; i < count; i++) {
        String key = numbers.readString(null).toString();
        ByteBuffer value = numbers.readBytes(null);
        byte[] copy = new byte[value.remaining()];
        value.get(copy);
        metadata.put(key, copy);
      }
    }
    byte[] sync = next(SYNC);
    byte[] schema = metadata.get("avro.schema");
    if (schema == null) {
      throw new IOException("it has no schema");
    }
    byte[] codec = metadata.getOrDefault("avro.codec", new byte[0]);
    return new Header(
        new Schema.Parser(NameValidator.NO_VALIDATION)
            .setValidateDefaults(false)
            .parse(text(schema)),
        codec.length == 0 ? Codec.NULL : Codec.of(text(codec)),
        sync,
        position());
  }

  private static String text(byte[] utf8) {
    return new String(utf8, StandardCharsets.UTF_8);
  }

  /**
   * Moves to the first block whose marker before it begins at a position or later; to the end if
   * there is none.
   */
  void toBlock(Header header, long from) throws IOException {
    if (from <= header.length() - SYNC) {
      seek(header.length());
      return;
    }
    seek(from);
    byte[] last = new byte[SYNC]; // a ring of the last bytes
    for (long read = 1; isFilled(); read++) {
      last[(int) (read % SYNC)] = buffer[at++];
      if (read >= SYNC && isRing(last, read, header.sync())) {
        return;
      }
    }
  }

  private static boolean isRing(byte[] ring, long newest, byte[] expected) {
    for (int i = 0; i < SYNC; i++) {
      if (ring[(int) ((newest + 1 + i) % SYNC)] != expected[i]) {
        return false;
      }
    }
    return true;
  }

  /**
   * Whether there is another block, whose marker before it begins before a position.
   *
   * @param before the position
   */
  boolean hasNext(long before) throws IOException {
    return position() - SYNC < before && isFilled();
  }

  /**
   * Reads the number of a block's rows.
   *
   * @throws IOException if the file ends, or the number cannot be one
   */
  long rows() throws IOException {
    long rows = number();
    if (rows < 0) {
      throw new IOException("it has " + rows + " rows");
    }
    return rows;
  }

  /** Reads the rest of a block, and returns its rows. */
  byte[] block(Header header) throws IOException {
    long size = number();
    if (size < 0 || size > MAX_BLOCK || size > length - position()) {
      throw new IOException(
          "it is said to have %s bytes, but the file has %s more"
              .formatted(size, length - position()));
    }
    byte[] block = next((int) size);
    if (!Arrays.equals(next(SYNC), header.sync())) {
      throw new IOException("its sync marker is not that of the file");
    }
    return header.codec().plain(block);
  }

  private long number() throws IOException {
    try {
      return numbers.readLong();
    } catch (EOFException e) {
      throw new EOFException("the file ends within it");
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
