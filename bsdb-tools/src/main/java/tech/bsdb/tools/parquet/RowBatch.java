package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.tools.input.Batch;

/** Consecutive rows of a row group: good ones as records, bad ones as reasons. */
final class RowBatch {
  /** Estimated memory of a row besides its key and value: signature, places, spare room. */
  private static final int ROW_BYTES = 64;

  /**
   * A row that cannot become a record.
   *
   * @param row its index in the batch, from 0
   * @param reason the kind of problem
   * @param detail what the problem concerns
   */
  record BadRow(int row, String reason, String detail) {}

  private final Batch records;
  private final List<BadRow> bad = new ArrayList<>();
  private long firstRow;
  private int rows;
  private long bytes;

  RowBatch(Batch records) {
    this.records = records;
  }

  /** Begins at a row of the file, counted from 0. */
  void begin(long firstRow) {
    this.firstRow = firstRow;
    rows = 0;
    bytes = 0;
    bad.clear();
  }

  /** Adds the next row as a record. */
  void add(byte[] key, int keyLength, byte[] value, int valueLength) throws IOException {
    records.visit(key, 0, keyLength, value, 0, valueLength);
    rows++;
    bytes += keyLength + valueLength + ROW_BYTES;
  }

  /** Adds the next row as the deletion of its key. */
  void addDeletion(byte[] key, int keyLength) throws IOException {
    records.delete(key, 0, keyLength);
    rows++;
    bytes += keyLength + ROW_BYTES;
  }

  /** Adds the next row as a bad one. */
  void addBad(String reason, String detail) {
    bad.add(new BadRow(rows, reason, detail));
    rows++;
    bytes += detail.length() + ROW_BYTES;
  }

  /** Returns the good rows. */
  Batch records() {
    return records;
  }

  List<BadRow> bad() {
    return bad;
  }

  long firstRow() {
    return firstRow;
  }

  int rows() {
    return rows;
  }

  /** Returns the approximate memory of the rows in bytes. */
  long bytes() {
    return bytes;
  }
}
