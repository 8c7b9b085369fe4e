package tech.bsdb.tools.parquet;

import java.io.IOException;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.Parsed;

/** Consecutive rows of a row group. */
final class RowBatch extends Parsed {
  /** Estimated memory of a row besides its key and value: signature, places, spare room. */
  private static final int ROW_BYTES = 64;

  private static final String SKIP = "--on-bad-line skip leaves such rows out";

  private long firstRow;
  private long bytes;

  RowBatch(Batch records) {
    super(records);
  }

  /** Begins at a row of the file, counted from 0. */
  void begin(long firstRow) {
    clear();
    this.firstRow = firstRow;
    bytes = 0;
  }

  /** Adds the next row as a record. */
  void add(byte[] key, int keyLength, byte[] value, int valueLength) throws IOException {
    records().visit(key, 0, keyLength, value, 0, valueLength);
    addGoodRow();
    bytes += keyLength + valueLength + ROW_BYTES;
  }

  /** Adds the next row as the deletion of its key. */
  void addDeletion(byte[] key, int keyLength) throws IOException {
    records().delete(key, 0, keyLength);
    addGoodRow();
    bytes += keyLength + ROW_BYTES;
  }

  /**
   * Adds the next row as a bad one.
   *
   * @param reason the kind of problem
   * @param detail what the problem concerns
   */
  void addBad(String reason, String detail, OnBadLine onBadRow) {
    String message = detail.isEmpty() ? reason : reason + " (" + detail + ")";
    String tip = reason.equals("empty key") ? "--allow-empty-key allows it, " + SKIP : SKIP;
    addBadRow(new Reason(reason, message, tip, onBadRow == OnBadLine.FAIL));
    bytes += detail.length() + ROW_BYTES;
  }

  long firstRow() {
    return firstRow;
  }

  /** Returns the approximate memory of the rows in bytes. */
  long bytes() {
    return bytes;
  }
}
