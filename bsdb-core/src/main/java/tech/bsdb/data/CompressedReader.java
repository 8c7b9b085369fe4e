package tech.bsdb.data;

import com.github.luben.zstd.ZstdDecompressCtx;
import com.github.luben.zstd.ZstdDictDecompress;
import com.github.luben.zstd.ZstdException;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.BlockFrame;
import tech.bsdb.format.Page;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.io.Extent;

/** Reads records of the compressed layout. */
public final class CompressedReader extends RecordReader {
  private final Blocks blocks;

  /** Bytes of a block to read at first: those of the longest one that is no single large record. */
  private final int longest;

  /**
   * Creates a reader, which closes the files.
   *
   * @param dictionary the dictionary used to compress the blocks, or null for none
   * @param longestFrame length of the longest block including its header, excluding single large
   *     records
   */
  public CompressedReader(
      List<DataFile> files,
      RecordAddress addresses,
      byte @Nullable [] dictionary,
      int longestFrame) {
    super(files, addresses);
    this.blocks = new Blocks(dictionary);
    this.longest = Math.max(BlockFrame.MAX, longestFrame);
  }

  @Override
  int further(long address) {
    return (inPage(address) + longest - 1) / Page.PAYLOAD;
  }

  @Override
  public boolean holds(long address, Extent extent) throws IOException {
    PageCursor cursor = new PageCursor(file(address), extent);
    cursor.seek(addresses.position(address));
    long lengthAndKind = cursor.nextLeb128();
    cursor.skip((lengthAndKind & 1) != 0 ? lengthAndKind >>> 1 : cursor.nextLeb128());
    return cursor.lastPage() < extent.first() + extent.count();
  }

  @Override
  public byte @Nullable [] decode(
      long address, byte[] key, Extent extent, Values values, Scratch scratch) throws IOException {
    PageCursor cursor = open(address, extent, scratch);
    return value(raw(cursor, scratch.block, values), address, key, cursor, scratch.block, values);
  }

  /** Reads the header of the block at an address; returns the cursor at its content. */
  private PageCursor open(long address, Extent extent, Scratch scratch) throws IOException {
    PageCursor cursor = scratch.cursor(file(address), extent, 1);
    cursor.seek(addresses.position(address));
    scratch.block.start();
    scratch.block.open(cursor, false);
    return cursor;
  }

  /** Decompresses a block after its header; returns null if it is stored uncompressed. */
  private byte @Nullable [] raw(PageCursor cursor, BlockReader block, @Nullable Values values)
      throws IOException {
    return block.isStored() ? null : block.raw(cursor, blocks, values);
  }

  /** Takes the value of a record in a block, given its decompressed bytes, if any. */
  private byte @Nullable [] value(
      byte @Nullable [] raw,
      long address,
      byte[] key,
      PageCursor cursor,
      BlockReader block,
      Values values)
      throws IOException {
    int offset = addresses.detail(address);
    if (raw == null) {
      cursor.skip(offset);
      return cursor.valueOf(key, block.length() - offset, values);
    }
    long header = header(raw, offset, (int) block.length(), cursor.file(), block.position());
    int keyAt = offset + RecordFrame.headerLength(header);
    int valueAt = keyAt + RecordFrame.keyLength(header);
    return valueAt - keyAt == key.length && RecordBytes.equal(raw, keyAt, key)
        ? values.take(raw, valueAt, RecordFrame.valueLength(header))
        : null;
  }

  /** Takes the values of records that follow one another in one block, decompressed once. */
  @Override
  int take(PlacedRecords records, int from, int to, Extent extent, Scratch scratch)
      throws IOException {
    long[] places = records.addresses();
    PageCursor cursor = open(places[from], extent, scratch);
    byte[] raw = raw(cursor, scratch.block, null);
    int number = from;
    do {
      byte[] key = records.keys()[number];
      records.values()[number] =
          value(raw, places[number], key, cursor, scratch.block, scratch.values);
      number++;
    } while (raw != null
        && number < to
        && addresses.position(places[number]) == addresses.position(places[from]));
    return number;
  }

  /** Decodes the header of a record, which must lie entirely within its block. */
  static long header(byte[] raw, int offset, int length, DataFile file, long block)
      throws IOException {
    long header = RecordFrame.decode(raw, offset, length);
    if (header < 0) {
      throw noRecord(file, block, raw, offset, length);
    }
    return header;
  }

  /** Describes damage at an offset of a block where no record lies entirely within the block. */
  static CorruptDatabaseException noRecord(
      DataFile file, long block, byte[] raw, int offset, int length) {
    return file.corrupt(
        block,
        "a record at byte " + offset + " of its block of " + length + " bytes",
        RecordFrame.decode(raw, offset, length) == RecordFrame.CUT
            ? "one that extends past its end"
            : "other bytes");
  }

  @Override
  public void close() throws IOException {
    try {
      super.close();
    } finally {
      blocks.close();
    }
  }

  /** Decompresses blocks; shared by lookups and scans. */
  static final class Blocks {
    private static final byte[] NO_DICTIONARY = new byte[0];

    private final @Nullable ZstdDictDecompress dictionary;

    Blocks(byte @Nullable [] dictionary) {
      this.dictionary = dictionary == null ? null : loaded(dictionary);
    }

    private static ZstdDictDecompress loaded(byte[] dictionary) {
      try {
        return new ZstdDictDecompress(dictionary);
      } catch (IllegalStateException | ZstdException e) {
        throw new IllegalArgumentException("not a ZSTD dictionary: " + e.getMessage(), e);
      }
    }

    /**
     * Decompresses a frame.
     *
     * @param length the length of the block
     * @param position where the block starts in the file
     */
    byte[] decompress(
        byte[] frame, int frameLength, int length, DataFile file, long position, Scratch scratch)
        throws IOException {
      byte[] raw = scratch.raw(length);
      try {
        int got = context(scratch).decompressByteArray(raw, 0, length, frame, 0, frameLength);
        if (got != length) {
          throw file.corrupt(position, "a block of " + length + " bytes", got + " bytes");
        }
      } catch (ZstdException e) {
        throw file.corrupt(position, "a ZSTD frame", String.valueOf(e.getMessage()));
      }
      return raw;
    }

    @SuppressWarnings("ReferenceEquality") // the context holds that very dictionary
    private ZstdDecompressCtx context(Scratch scratch) {
      ZstdDecompressCtx context = scratch.context;
      if (context == null) {
        context = new ZstdDecompressCtx();
        context.setMagicless(true);
        scratch.context = context;
      }
      if (scratch.dictionary != dictionary) { // the block before was another shard's
        if (dictionary == null) {
          context.loadDict(NO_DICTIONARY);
        } else {
          context.loadDict(dictionary);
        }
        scratch.dictionary = dictionary;
      }
      return context;
    }

    void close() {
      if (dictionary != null) {
        try {
          dictionary.close();
        } catch (IllegalStateException e) {
          // A stack overflow left it locked: its memory is lost.
        }
      }
    }
  }
}
