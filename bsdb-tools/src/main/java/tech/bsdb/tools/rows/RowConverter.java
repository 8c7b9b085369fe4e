package tech.bsdb.tools.rows;

/**
 * Converts rows of one schema to rows of another, as a {@link RowResolution} says. Reusable; not
 * thread-safe.
 */
public final class RowConverter {
  /** Converts the value at the input, and moves past it. */
  @FunctionalInterface
  interface Step {
    /** Converts a value. */
    void convert(RowConverter row) throws BadRowException;
  }

  /** The row that is read. */
  final RowCursor in = new RowCursor();

  /** The row that is written. */
  final RowBuffer out = new RowBuffer();

  /** Holds a record's fields while they are sorted. */
  final RowBuffer sorted = new RowBuffer();

  private final Step record;

  RowConverter(Step record) {
    this.record = record;
  }

  /**
   * Converts a row.
   *
   * @param bytes contains the row in {@code from} to {@code from + length - 1}
   * @return the converted row; valid until the next one
   * @throws BadRowException if a value does not exist in the other schema, such as null where it is
   *     not allowed, or the bytes are not a row
   */
  public RowBuffer convert(byte[] bytes, int from, int length) throws BadRowException {
    out.reset();
    in.begin(bytes, from, length);
    try {
      record.convert(this);
      in.finish();
      return out;
    } finally {
      in.release();
    }
  }

  /** Copies bytes of one length. */
  void copy(int length) throws BadRowException {
    int at = in.take(length);
    out.put(in.bytes(), at, length);
  }

  /** Copies bytes or a string, and returns where they begin in the input. */
  int copyCounted(int length) throws BadRowException {
    int at = in.take(length);
    out.putBytes(in.bytes(), at, length);
    return at;
  }
}
