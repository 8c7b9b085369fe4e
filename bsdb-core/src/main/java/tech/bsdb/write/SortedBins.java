package tech.bsdb.write;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.format.PackedPage;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.index.BinIndex;

/**
 * The records of a range of bins, sorted by signature. Two records with the same key are
 * duplicates.
 */
final class SortedBins extends SignatureRun {
  private final long bins;
  private final SignatureFunction function;
  private final Signature signature = new Signature();

  /** The keys of one signature, if there are many: where they are in the order. */
  private final Map<ByteBuffer, Integer> many = new HashMap<>();

  /**
   * Creates an instance without records.
   *
   * @param bins the number of all bins
   * @param function gives the signatures
   * @param keep which of the records with the same key to keep
   */
  SortedBins(long bins, SignatureFunction function, DuplicatePolicy keep) {
    super(keep);
    this.bins = bins;
    this.function = function;
  }

  /**
   * Reads the records of a range of bins, in place of those it has.
   *
   * @throws DuplicateKeyException if there are duplicates and they are not allowed; it names the
   *     first one in the order of the records
   */
  void load(RecordSpill spill, Passes.Range range) throws IOException {
    long records = 0;
    long recordBytes = 0;
    for (int i = range.fromPartition(); i < range.toPartition(); i++) {
      records += spill.count(i);
      recordBytes += spill.bytes(i);
    }
    begin(bins, range, records, recordBytes);
    for (int i = range.fromPartition(); i < range.toPartition(); i++) {
      spill.read(
          i,
          (number, bytes, at, keyAt, keyLength, length) -> {
            function.sign(bytes, keyAt, keyLength, signature);
            add(signature.high, signature.low, bytes, at, length);
          });
    }
    sort();
    Refused refused = refused();
    if (refused != null) {
      throw duplicate(spill, range, key(refused.first(), 0));
    }
  }

  /** The duplicate of a key, whose records are read again for their numbers. */
  private static DuplicateKeyException duplicate(
      RecordSpill spill, Passes.Range range, ByteBuffer key) throws IOException {
    long[] numbers = new long[2];
    int[] found = {0};
    for (int i = range.fromPartition(); i < range.toPartition(); i++) {
      spill.read(
          i,
          (number, bytes, at, keyAt, keyLength, length) -> {
            if (found[0] < 2 && key.equals(ByteBuffer.wrap(bytes, keyAt, keyLength))) {
              numbers[found[0]++] = number;
            }
          });
    }
    byte[] bytes = new byte[key.remaining()];
    key.get(bytes);
    return new DuplicateKeyException(bytes, numbers[0], numbers[1]);
  }

  @Override
  int duplicate(int first, int end, int record) {
    if (end - first < FEW) {
      ByteBuffer key = key(record);
      int same = first;
      while (same < end && !key.equals(key(entry(same)))) {
        same++;
      }
      return same < end ? same : -1;
    }
    if (end - first == FEW) { // keys that were made to have one signature
      many.clear();
      for (int i = first; i < end; i++) {
        many.put(key(entry(i)), i);
      }
    }
    Integer same = many.putIfAbsent(key(record), end);
    return same == null ? -1 : same;
  }

  /** The key of a record in memory. */
  private ByteBuffer key(int record) {
    return key(bytes(), startOf(record));
  }

  private static ByteBuffer key(byte[] bytes, int from) {
    long header = RecordFrame.header(bytes, from);
    int start = from + RecordFrame.headerLength(header);
    return ByteBuffer.wrap(bytes, start, RecordFrame.keyLength(header));
  }

  /**
   * The length of the value of the record that starts at {@code from}, if it is long and therefore
   * elsewhere; otherwise 0. A reference of {@link RecordSpill#REFERENCE} bytes replaces it.
   */
  static int elsewhere(byte[] bytes, int from) {
    int valueLength =
        bytes[from] != 0 // a short header
            ? (bytes[from + 1] & 0xFF) | (bytes[from + 2] & 0xFF) << 8
            : RecordFrame.valueLength(RecordFrame.header(bytes, from));
    return valueLength > RecordSpill.LONG_VALUE ? valueLength : 0;
  }

  /** The part of its bin in which the record at a position of the order lies. */
  int part(int position) {
    return BinIndex.part(high(position), bins);
  }

  /** The length of the record at a position of the order, including a long value. */
  long length(int position) {
    int from = recordStart(position);
    int here = recordEnd(position) - from;
    int elsewhere = elsewhere(bytes(), from);
    return elsewhere == 0 ? here : here - RecordSpill.REFERENCE + (long) elsewhere;
  }

  /** The filter of a bin: the bits of its records. */
  int filter(int bin) {
    int filter = 0;
    for (int i = start(bin); i < start(bin + 1); i++) {
      filter |= PackedPage.filterBit(low(i));
    }
    return filter;
  }

  /** Receives signatures. */
  @FunctionalInterface
  interface SignatureSink {
    /** Receives the two halves of a signature. */
    void add(long high, long low) throws IOException;
  }

  /** Passes on the signatures of all records, in their order. */
  void forEachSignature(SignatureSink sink) throws IOException {
    for (int i = 0; i < records(); i++) {
      sink.add(high(i), low(i));
    }
  }

  /** Where the key of the record at a position of the order starts. */
  int keyStart(int position) {
    int from = recordStart(position);
    return from + RecordFrame.headerLength(RecordFrame.header(bytes(), from));
  }

  /** The end of the key of the record at a position of the order. */
  int keyEnd(int position) {
    long header = RecordFrame.header(bytes(), recordStart(position));
    return recordStart(position) + RecordFrame.headerLength(header) + RecordFrame.keyLength(header);
  }
}
