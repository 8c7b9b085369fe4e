package tech.bsdb.tools.serve.resp;

import tech.bsdb.ScanOptions;

/**
 * The places between the records of a version, as cursors of {@code SCAN}. A cursor depends on
 * nothing but the version, so any server of the same version continues a scan. It is below 2^53,
 * because clients keep cursors in doubles and in signed numbers. Immutable.
 *
 * <pre>
 *   bits       in the order of the files        in the order of the keys
 *   the rest   identify the version             identify the version
 *   1          0                                1
 *   placeBits  a part, and a place in it        the number of the last key, plus 1
 * </pre>
 *
 * <p>For a billion records, 20 bits identify the version; for the largest databases, 8 do.
 *
 * @param tag identifies the version
 * @param placeBits how many bits a place takes
 * @param offsetBits how many of these are the place in a part
 * @param parts how many parts there are
 * @param perPart about how many records a part has
 */
record ScanPlaces(long tag, int placeBits, int offsetBits, int parts, long perPart, long records) {
  /** Records of a part, as long as there need not be more parts than there may be. */
  private static final long RECORDS = 512;

  private static final int PART_BITS = 16;
  private static final int CURSOR_BITS = 53;
  private static final int MOST_PLACE_BITS = 44;

  /** The number of hexadecimal digits, of 4 bits each, that every tag is a part of. */
  private static final int ID_DIGITS = 13;

  /** The most records of which a cursor can hold the number of each. */
  static final long MOST_NUMBERED = (1L << MOST_PLACE_BITS) - 1;

  /**
   * Returns the places of a version.
   *
   * @param id the id of the database, 32 hexadecimal digits that depend on its content
   */
  static ScanPlaces of(String id, long records) {
    int parts = (int) Math.max(1, Math.min(1 << PART_BITS, records / RECORDS));
    long perPart = Math.max(1, records / parts);
    int partBits = bits(parts - 1);
    int offsetBits = Math.min(MOST_PLACE_BITS - partBits, bits(perPart) + 2); // parts differ
    int placeBits = Math.max(partBits + offsetBits, Math.min(MOST_PLACE_BITS, bits(records)));
    long tag =
        Long.parseLong(id.substring(0, ID_DIGITS), 16)
            >>> 4 * ID_DIGITS - (CURSOR_BITS - 1 - placeBits);
    return new ScanPlaces(tag, placeBits, offsetBits, parts, perPart, records);
  }

  private static int bits(long number) {
    return Long.SIZE - Long.numberOfLeadingZeros(number);
  }

  ScanOptions part(int part) {
    return ScanOptions.defaults().withValues(false).withPart(part, parts);
  }

  /** Returns the cursor of a place, which is not 0 unless it is the begin of a scan. */
  String cursor(int part, int offset) {
    return Long.toString(tag << placeBits + 1 | (long) part << offsetBits | offset);
  }

  /** Returns the cursor of the place behind a key in the order of the keys. */
  String cursorBehind(long keyNumber) {
    return Long.toString((tag << 1 | 1) << placeBits | keyNumber + 1);
  }

  /** Whether a cursor is a place in the order of the keys of this version. */
  boolean ownsInKeyOrder(long cursor) {
    long number = keyNumber(cursor);
    return cursor >>> placeBits == (tag << 1 | 1) && number >= 0 && number < records;
  }

  /** Returns the number of the key behind which a cursor is in the order of the keys. */
  long keyNumber(long cursor) {
    return place(cursor) - 1;
  }

  /** Whether a cursor, other than 0, is a place in the order of the files of this version. */
  boolean owns(long cursor) {
    return cursor >>> placeBits == tag << 1 && place(cursor) >>> offsetBits < parts;
  }

  private long place(long cursor) {
    return cursor & (1L << placeBits) - 1;
  }

  int part(long cursor) {
    return (int) (place(cursor) >>> offsetBits);
  }

  int offset(long cursor) {
    return (int) cursor & mostOffset();
  }

  /** Returns the largest offset that a cursor can hold. */
  int mostOffset() {
    return (1 << offsetBits) - 1;
  }
}
