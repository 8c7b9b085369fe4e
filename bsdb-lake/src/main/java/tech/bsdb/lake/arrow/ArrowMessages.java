package tech.bsdb.lake.arrow;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Footer;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Schema;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.source.SourceInput;

/**
 * Where the messages of a file or a stream are, in the order in which they apply. Immutable.
 *
 * @param schema its schema
 * @param version the version of the format
 * @param places its batches
 */
record ArrowMessages(Schema schema, short version, List<Place> places) {
  private static final byte[] MAGIC = "ARROW1".getBytes(US_ASCII);
  private static final byte[] FEATHER_1 = "FEA1".getBytes(US_ASCII);
  private static final int CONTINUATION = -1;

  /** The longest metadata of a message, which has a few bytes for each column. */
  private static final int MAX_METADATA = 1 << 28;

  /**
   * The place of a message.
   *
   * @param metadata where its metadata begins, after its length
   * @param length the length of the metadata
   * @param body the length of its body, which begins after the metadata
   * @param isDictionary whether it is a dictionary, not rows
   */
  record Place(long metadata, int length, long body, boolean isDictionary) {
    /** Returns where its body begins. */
    long bodyStart() {
      return metadata + length;
    }
  }

  /**
   * Reads a file's footer, or the headers of the messages of a stream.
   *
   * @throws InputException if it is neither, is damaged, or cannot be read
   */
  static ArrowMessages of(SourceFile file, SourceInput in) throws IOException {
    byte[] begin = bytes(in, 0, (int) Math.min(8, file.length()));
    if (Arrays.equals(begin, 0, Math.min(4, begin.length), FEATHER_1, 0, 4)) {
      throw new InputException(
          file.name()
              + ": is a Feather file of version 1, which is not supported (write it as version 2, which"
              + " is Arrow IPC)");
    }
    boolean isFile =
        begin.length >= MAGIC.length
            && Arrays.equals(begin, 0, MAGIC.length, MAGIC, 0, MAGIC.length);
    ArrowMessages messages = isFile ? ofFile(file, in) : ofStream(file, in);
    if (messages.schema.endianness() != Endianness.Little) {
      throw new InputException(
          file.name() + ": its numbers are big-endian, which is not supported");
    }
    return messages;
  }

  private static ArrowMessages ofFile(SourceFile file, SourceInput in) throws IOException {
    int tail = Integer.BYTES + MAGIC.length;
    byte[] end = file.length() < 8 + tail ? new byte[tail] : bytes(in, file.length() - tail, tail);
    int length = ByteBuffer.wrap(end).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (!Arrays.equals(end, Integer.BYTES, tail, MAGIC, 0, MAGIC.length)
        || length <= 0
        || length > Math.min(MAX_METADATA, file.length() - 8 - tail)) {
      throw new InputException(
          file.name() + ": truncated, or not an Arrow file: it does not end with ARROW1");
    }
    Footer footer =
        Footer.getRootAsFooter(
            ByteBuffer.wrap(bytes(in, file.length() - tail - length, length))
                .order(ByteOrder.LITTLE_ENDIAN));
    List<Place> places = new ArrayList<>();
    for (int i = 0; i < footer.dictionariesLength(); i++) {
      places.add(place(footer.dictionaries(i), true, in));
    }
    for (int i = 0; i < footer.recordBatchesLength(); i++) {
      places.add(place(footer.recordBatches(i), false, in));
    }
    for (Place place : places) {
      checkWithin(file, place);
    }
    Schema schema = footer.schema();
    if (schema == null) {
      throw new InputException(file.name() + ": damaged: it has no schema");
    }
    short version = MetadataVersion.V5; // the footer of old writers does not tell
    if (!places.isEmpty()) {
      version = message(in, places.get(0).metadata(), places.get(0).length()).version();
      checkVersion(file, version);
    }
    return new ArrowMessages(schema, version, places);
  }

  private static Place place(Block block, boolean isDictionary, SourceInput in) throws IOException {
    int prefix = prefix(in, block.offset());
    return new Place(
        block.offset() + prefix, block.metaDataLength() - prefix, block.bodyLength(), isDictionary);
  }

  /** Returns how many bytes precede a message's metadata: 8, or 4 before version 0.15. */
  private static int prefix(SourceInput in, long at) throws IOException {
    return number(in, at) == CONTINUATION ? 2 * Integer.BYTES : Integer.BYTES;
  }

  private static ArrowMessages ofStream(SourceFile file, SourceInput in) throws IOException {
    Schema schema = null;
    short version = 0;
    List<Place> places = new ArrayList<>();
    long at = 0;
    while (at + Integer.BYTES <= file.length()) {
      int prefix = prefix(in, at);
      if (at + prefix > file.length()) {
        break; // ends within the length of a message
      }
      int length = number(in, at + prefix - Integer.BYTES);
      if (length == 0) { // the end of the stream
        at = file.length();
        break;
      }
      if (length < 0 || length > Math.min(MAX_METADATA, file.length() - at - prefix)) {
        throw schema == null
            ? noArrow(file, null)
            : new InputException(
                "%s: damaged or truncated: the message at byte %s has metadata of %s bytes"
                    .formatted(file.name(), at, length));
      }
      Message message;
      boolean isDictionary;
      try {
        message = message(in, at + prefix, length);
        isDictionary = message.headerType() == MessageHeader.DictionaryBatch;
        checkVersion(file, message.version());
        if (schema == null) {
          if (message.headerType() != MessageHeader.Schema
              || !(message.header(new Schema()) instanceof Schema first)) {
            throw noArrow(file, null);
          }
          schema = first;
          version = message.version();
        }
      } catch (RuntimeException e) {
        throw schema == null
            ? noArrow(file, e)
            : new InputException(
                "%s: damaged: the message at byte %s cannot be read".formatted(file.name(), at), e);
      }
      Place place = new Place(at + prefix, length, message.bodyLength(), isDictionary);
      checkWithin(file, place);
      if (isDictionary || message.headerType() == MessageHeader.RecordBatch) {
        places.add(place);
      } else if (message.headerType() != MessageHeader.Schema) {
        throw new InputException(file.name() + ": has tensors, which cannot be rows");
      }
      at = place.bodyStart() + place.body();
    }
    if (schema == null) {
      throw noArrow(file, null);
    }
    if (at != file.length()) {
      throw new InputException(
          "%s: truncated: it ends within the message at byte %s".formatted(file.name(), at));
    }
    return new ArrowMessages(schema, version, places);
  }

  private static InputException noArrow(SourceFile file, @Nullable Exception cause) {
    return new InputException(
        file.name()
            + ": not an Arrow file or stream: it begins neither with ARROW1 nor with a schema",
        cause);
  }

  private static void checkVersion(SourceFile file, short version) throws InputException {
    if (version != MetadataVersion.V4 && version != MetadataVersion.V5) {
      throw new InputException(
          "%s: is of version %s of Arrow's format; versions 4 and 5 can be read"
              .formatted(file.name(), version + 1));
    }
  }

  private static void checkWithin(SourceFile file, Place place) throws InputException {
    if (place.metadata() < 0
        || place.length() <= 0
        || place.length() > MAX_METADATA
        || place.body() < 0
        || place.metadata() > file.length() - place.length()
        || place.bodyStart() > file.length() - place.body()) {
      throw new InputException(
          ("%s: damaged or truncated: a message is said to be at byte %s with %s and %s bytes, but the"
                  + " file has %s")
              .formatted(
                  file.name(), place.metadata(), place.length(), place.body(), file.length()));
    }
  }

  /** Reads a message's metadata. */
  static Message message(SourceInput in, long at, int length) throws IOException {
    return Message.getRootAsMessage(
        ByteBuffer.wrap(bytes(in, at, length)).order(ByteOrder.LITTLE_ENDIAN));
  }

  private static int number(SourceInput in, long at) throws IOException {
    return ByteBuffer.wrap(bytes(in, at, Integer.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getInt();
  }

  /** Reads bytes at a place. */
  static byte[] bytes(SourceInput in, long at, int length) throws IOException {
    in.seek(at);
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("it ends at byte " + (at + bytes.length));
    }
    return bytes;
  }
}
