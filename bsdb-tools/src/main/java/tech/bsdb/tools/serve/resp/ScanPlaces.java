package tech.bsdb.tools.serve.resp;

import tech.bsdb.ScanOptions;

/**
 * The places between the records of a version, as cursors of {@code SCAN}. A cursor depends on
 * nothing but the version, so any server of the same version continues a scan. Immutable.
 *
 * <pre>
 *   bits   in the order of the files              in the order of the keys
 *   24     identify the version                   the same, but the first bit differs
 *   16     a part of the records                  the number of the last key, plus 1 (40 bits)
 *   24     a place in it
 * </pre>
 *
 * @param tag identifies the version
 * @param parts how many parts there are
 * @param perPart about how many records a part has
 */
record ScanPlaces(long tag, int parts, long perPart, long records) {
  /** Records of a part, as long as there need not be more parts than there may be. */
  private static final long RECORDS = 512;

  private static final int MOST_PARTS = 1 << 16;
  private static final int OFFSET_BITS = 24;
  private static final int TAG_SHIFT = 40;
  private static final long IN_KEY_ORDER = 1L << 63;
  private static final long NUMBER = (1L << TAG_SHIFT) - 1;

  /** The most records of which a cursor can hold the number of each. */
  static final long MOST_NUMBERED = NUMBER;

  /** The largest offset that a cursor can hold. */
  static final int MOST_OFFSET = (1 << OFFSET_BITS) - 1;

  /**
   * Returns the places of a version.
   *
   * @param id the id of the database, 32 hexadecimal digits that depend on its content
   */
  static ScanPlaces of(String id, long records) {
    int parts = (int) Math.max(1, Math.min(MOST_PARTS, records / RECORDS));
    return new ScanPlaces(
        Long.parseLong(id.substring(0, 6), 16), parts, Math.max(1, records / parts), records);
  }

  ScanOptions part(int part) {
    return ScanOptions.defaults().withValues(false).withPart(part, parts);
  }

  /** Returns the cursor of a place, which is not 0 unless it is the begin of a scan. */
  String cursor(int part, int offset) {
    return Long.toUnsignedString(tag << TAG_SHIFT | (long) part << OFFSET_BITS | offset);
  }

  /** Returns the cursor of the place behind a key in the order of the keys. */
  String cursorBehind(long keyNumber) {
    return Long.toUnsignedString((tag << TAG_SHIFT ^ IN_KEY_ORDER) | (keyNumber + 1));
  }

  /** Whether a cursor is a place in the order of the keys of this version. */
  boolean ownsInKeyOrder(long cursor) {
    long number = keyNumber(cursor);
    return (cursor ^ IN_KEY_ORDER) >>> TAG_SHIFT == tag && number >= 0 && number < records;
  }

  /** Returns the number of the key behind which a cursor is in the order of the keys. */
  static long keyNumber(long cursor) {
    return (cursor & NUMBER) - 1;
  }

  /** Whether a cursor, other than 0, is a place in the order of the files of this version. */
  boolean owns(long cursor) {
    return cursor >>> TAG_SHIFT == tag && part(cursor) < parts;
  }

  static int part(long cursor) {
    return (int) (cursor >>> OFFSET_BITS) & (MOST_PARTS - 1);
  }

  static int offset(long cursor) {
    return (int) cursor & MOST_OFFSET;
  }
}
