package tech.bsdb.tools.serve.resp;

import tech.bsdb.ScanOptions;

/**
 * The places between the records of a version, as cursors of {@code SCAN}: 24 bits that identify
 * the version, 16 bits for a part of the records, and 24 bits for a place in it. A cursor depends
 * on nothing but the version, so any server of the same version continues a scan. Immutable.
 */
final class ScanPlaces {
  /** Records of a part, as long as there need not be more parts than there may be. */
  private static final long RECORDS = 512;

  private static final int MOST_PARTS = 1 << 16;
  private static final int OFFSET_BITS = 24;
  private static final int TAG_SHIFT = 40;

  /** The largest offset that a cursor can hold. */
  static final int MOST_OFFSET = (1 << OFFSET_BITS) - 1;

  private final long tag;
  private final int parts;
  private final long perPart;

  private ScanPlaces(long tag, int parts, long perPart) {
    this.tag = tag;
    this.parts = parts;
    this.perPart = perPart;
  }

  /**
   * Returns the places of a version.
   *
   * @param id the id of the database, 32 hexadecimal digits that depend on its content
   */
  static ScanPlaces of(String id, long records) {
    int parts = (int) Math.max(1, Math.min(MOST_PARTS, records / RECORDS));
    return new ScanPlaces(
        Long.parseLong(id.substring(0, 6), 16), parts, Math.max(1, records / parts));
  }

  int parts() {
    return parts;
  }

  /** Returns about how many records a part has. */
  long perPart() {
    return perPart;
  }

  ScanOptions part(int part) {
    return ScanOptions.defaults().withValues(false).withPart(part, parts);
  }

  /** Returns the cursor of a place, which is not 0 unless it is the begin of a scan. */
  String cursor(int part, int offset) {
    return Long.toUnsignedString(tag << TAG_SHIFT | (long) part << OFFSET_BITS | offset);
  }

  /** Whether a cursor, other than 0, belongs to this version. */
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
