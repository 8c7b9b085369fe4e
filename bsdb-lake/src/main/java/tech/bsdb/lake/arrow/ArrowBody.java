package tech.bsdb.lake.arrow;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Map;
import org.apache.arrow.flatbuf.BodyCompression;
import org.apache.arrow.flatbuf.BodyCompressionMethod;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.CompressionType;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.KeyValue;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.source.SourceInput;

/** The body of a batch, whose nodes and buffers are taken in the order of the fields. */
final class ArrowBody {
  private static final int LENGTH = Long.BYTES;
  private static final byte NOT_COMPRESSED = -1;

  /** The mark of Arrow 0.17, which compressed buffers before the format could say so. */
  private static final String EXPERIMENTAL = "ARROW:experimental_compression";

  private final SourceInput in;
  private final long start;
  private final long bytes;
  private final RecordBatch batch;
  private final byte codec;
  private final Map<Long, ArrowDictionary> dictionaries;
  private int node;
  private int buffer;
  private int variadic;
  private long nulls;

  /**
   * Creates the body of a batch.
   *
   * @param message the message of the batch
   * @param dictionaries the values of its indexes, by the identifiers of dictionaries
   */
  ArrowBody(
      SourceInput in,
      ArrowMessages.Place place,
      Message message,
      RecordBatch batch,
      Map<Long, ArrowDictionary> dictionaries) {
    this.in = in;
    this.start = place.bodyStart();
    this.bytes = place.body();
    this.batch = batch;
    this.codec = codec(message, batch);
    this.dictionaries = dictionaries;
  }

  private static byte codec(Message message, RecordBatch batch) {
    BodyCompression compression = batch.compression();
    if (compression != null) {
      if (compression.method() != BodyCompressionMethod.BUFFER) {
        throw new IllegalStateException("its compression is of an unknown kind");
      }
      return compression.codec();
    }
    for (int i = 0; i < message.customMetadataLength(); i++) {
      KeyValue entry = message.customMetadata(i);
      if (message.version() == MetadataVersion.V4 && EXPERIMENTAL.equals(entry.key())) {
        return switch (String.valueOf(entry.value()).toLowerCase(Locale.ROOT)) {
          case "uncompressed" -> NOT_COMPRESSED;
          case "lz4", "lz4_frame" -> CompressionType.LZ4_FRAME;
          case "zstd" -> CompressionType.ZSTD;
          default ->
              throw new IllegalStateException("its compression is unknown: " + entry.value());
        };
      }
    }
    return NOT_COMPRESSED;
  }

  /** Returns the dictionary of an identifier; one without values if it was not written yet. */
  ArrowDictionary dictionary(long id) {
    return dictionaries.getOrDefault(id, ArrowDictionary.EMPTY);
  }

  /** Takes a node, and returns its number of values. */
  int nextLength() {
    FieldNode next = node < batch.nodesLength() ? batch.nodes(node++) : null;
    if (next == null || next.length() < 0 || next.length() > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          next == null ? "a batch lacks a column" : "a column has " + next.length() + " values");
    }
    nulls = next.nullCount();
    return (int) next.length();
  }

  /**
   * Takes the buffer of validity of the node that was taken last.
   *
   * @return null if no value is null
   */
  @Nullable ByteBuffer nextValidity(int length) throws IOException {
    if (nulls == 0) {
      skipBuffers(1);
      return null;
    }
    ByteBuffer validity = nextBuffer();
    if (!validity.hasRemaining() && length > 0 && nulls > 0) {
      throw new IllegalStateException("a column has nulls, but does not say which");
    }
    return validity.hasRemaining() ? validity : null;
  }

  /** Takes a buffer, and reads it. */
  ByteBuffer nextBuffer() throws IOException {
    Buffer next = next();
    if (next.length() == 0) {
      return ByteBuffer.allocate(0);
    }
    if (next.offset() < 0 || next.length() < 0 || next.offset() > bytes - next.length()) {
      throw new IllegalStateException(
          "a buffer at %s with %s bytes is not within a body of %s bytes"
              .formatted(next.offset(), next.length(), bytes));
    }
    byte[] read = ArrowMessages.bytes(in, start + next.offset(), size(next.length()));
    return (codec == NOT_COMPRESSED ? ByteBuffer.wrap(read) : plain(read, codec))
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int size(long length) {
    if (length > Integer.MAX_VALUE - 8) {
      throw new IllegalStateException(
          "a buffer has "
              + length
              + " bytes, but at most 2 GiB can be read (write smaller record batches)");
    }
    return (int) length;
  }

  private static ByteBuffer plain(byte[] read, byte codec) {
    if (read.length < LENGTH) {
      throw new IllegalStateException("a compressed buffer has " + read.length + " bytes");
    }
    long length = ByteBuffer.wrap(read).order(ByteOrder.LITTLE_ENDIAN).getLong();
    if (length == -1) { // it is not compressed
      return ByteBuffer.wrap(read, LENGTH, read.length - LENGTH).slice();
    }
    if (length < 0) {
      throw new IllegalStateException("a compressed buffer has a length of " + length);
    }
    int size = size(length);
    return ByteBuffer.wrap(
        switch (codec) {
          case CompressionType.LZ4_FRAME -> Lz4Frame.decompress(read, LENGTH, size);
          case CompressionType.ZSTD -> zstd(read, size);
          default ->
              throw new IllegalStateException("its buffers are compressed in an unknown way");
        });
  }

  private static byte[] zstd(byte[] read, int size) {
    byte[] plain = new byte[size];
    try {
      long got = Zstd.decompressByteArray(plain, 0, size, read, LENGTH, read.length - LENGTH);
      if (Zstd.isError(got) || got != size) {
        throw new IllegalStateException("a buffer's Zstandard data is not valid");
      }
      return plain;
    } catch (ZstdException e) {
      throw new IllegalStateException("a buffer's Zstandard data: " + e.getMessage(), e);
    }
  }

  private Buffer next() {
    Buffer next = buffer < batch.buffersLength() ? batch.buffers(buffer++) : null;
    if (next == null) {
      throw new IllegalStateException("a batch lacks a buffer");
    }
    return next;
  }

  /** Passes over buffers. */
  void skipBuffers(int count) {
    for (int i = 0; i < count; i++) {
      next();
    }
  }

  /** Takes the number of the buffers of data that a vector of views has. */
  int nextVariadicCount() {
    if (variadic >= batch.variadicBufferCountsLength()) {
      throw new IllegalStateException("a batch lacks the number of its buffers of views");
    }
    long count = batch.variadicBufferCounts(variadic++);
    if (count < 0 || count > batch.buffersLength()) {
      throw new IllegalStateException("a column of views has " + count + " buffers");
    }
    return (int) count;
  }
}
