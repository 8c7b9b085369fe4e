package tech.bsdb.write;

/**
 * The shape of a packed database, which depends only on the number and the length of its records.
 *
 * @param bins the number of bins, a multiple of the units
 * @param units the number of ranges of bins that are packed separately, a power of two
 * @param spanning whether bins may span pages to leave no gaps
 */
record PackedShape(long bins, int units, boolean spanning) {
  /** A bin should hold so many bytes on average, so that its directory entry weighs little. */
  private static final int LEAST_BIN = 24;

  /** Records of more bytes on average span pages: the gaps would cost more than further reads. */
  private static final int MOST_ALIGNED = 128;

  private static final int BINS_PER_UNIT = 64;

  /** So many blocks fill a bin: their unfilled ends cost little then, and so does the directory. */
  private static final int BLOCKS_PER_BIN = 2;

  /** Chooses the shape for {@code records} records of {@code bytes} bytes with their headers. */
  static PackedShape of(long records, long bytes) {
    long average = records == 0 ? LEAST_BIN : Math.max(1, bytes / records);
    long perBin = (LEAST_BIN + average - 1) / average;
    long wanted = Math.max(1, (records + perBin - 1) / perBin);
    return of(wanted, average > MOST_ALIGNED);
  }

  /**
   * Chooses the shape for compressed records: bins of a few blocks of {@code blockSize} raw bytes,
   * which span pages. Frames of a few hundred bytes leave no gaps then.
   */
  static PackedShape compressed(long records, long bytes, int blockSize) {
    long bin = (long) BLOCKS_PER_BIN * blockSize;
    return of(Math.max(1, Math.min((bytes + bin - 1) / bin, records)), true);
  }

  private static PackedShape of(long wanted, boolean spanning) {
    int units =
        (int)
            Math.min(
                RecordSpill.PARTITIONS, Long.highestOneBit(Math.max(1, wanted / BINS_PER_UNIT)));
    long bins = (wanted + units - 1) / units * units;
    return new PackedShape(bins, units, spanning);
  }
}
