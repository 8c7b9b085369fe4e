package tech.bsdb.tools.table;

import java.io.IOException;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.Parsed;

/** Consecutive rows of a part. */
public final class RowBatch extends Parsed {
  /** Estimated memory of a row besides its key and value: signature, places, spare room. */
  private static final int ROW_BYTES = 64;

  private static final String SKIP = "--on-bad-line skip leaves such rows out";

  private long firstRow;
  private long bytes;
  private double done;

  public RowBatch(Batch records) {
    super(records);
  }

  /** Begins at a row of the file, counted from 0. */
  public void begin(long firstRow) {
    clear();
    this.firstRow = firstRow;
    bytes = 0;
  }

  /** Adds the next row as a record. */
  public void add(byte[] key, int keyLength, byte[] value, int valueLength) throws IOException {
    records().visit(key, 0, keyLength, value, 0, valueLength);
    addGoodRow();
    bytes += keyLength + valueLength + ROW_BYTES;
  }

  /** Adds the next row as the deletion of its key. */
  public void addDeletion(byte[] key, int keyLength) throws IOException {
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
  public void addBad(String reason, String detail, OnBadLine onBadRow) {
    String message = detail.isEmpty() ? reason : reason + " (" + detail + ")";
    String tip = reason.equals("empty key") ? "--allow-empty-key allows it, " + SKIP : SKIP;
    addBadRow(new Reason(reason, message, tip, onBadRow == OnBadLine.FAIL));
    bytes += detail.length() + ROW_BYTES;
  }

  /** Adds the next rows, which are not wanted. */
  public void addLeftOut(long rows) {
    addLeftOutRows(rows);
  }

  /** Says which share of the part was read with these rows, from 0 to 1. */
  public void setDone(double done) {
    this.done = done;
  }

  double done() {
    return done;
  }

  /** Returns the number of rows before these in the file. */
  public long firstRow() {
    return firstRow;
  }

  /** Returns the approximate memory of the rows in bytes. */
  public long bytes() {
    return bytes;
  }
}
