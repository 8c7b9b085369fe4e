package tech.bsdb.tools.input;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was found in consecutive lines or rows of a file: records with their places, and what is not
 * a record. Reusable; not thread-safe.
 */
public class Parsed {
  private final Batch records;

  /** The lines or rows of the records, from 1; the records' numbers count from 0. */
  final Places places = new Places(Integer.MAX_VALUE);

  /** What is not a record, in order. */
  final List<Bad> bad = new ArrayList<>();

  /** The number of lines or rows. */
  long units;

  /** How many of them are not wanted. */
  long leftOut;

  /** Nothing yet; the records will be added to the batch. */
  protected Parsed(Batch records) {
    this.records = records;
  }

  /** The records. */
  public final Batch records() {
    return records;
  }

  /** The number of lines or rows. */
  public final long units() {
    return units;
  }

  /** Adds the line or row of the next record, from 0. */
  final void addGood(long unit) {
    places.add(places.records(), 1, 0, unit + 1);
  }

  /** Adds the next row, which is a record. */
  protected final void addGoodRow() {
    addGood(units++);
  }

  /** Adds the next row, which is not a record. */
  protected final void addBadRow(Reason reason) {
    bad.add(new Bad(units++, reason, null, 0, 0));
  }

  /** Adds the next rows, which are not wanted. */
  protected final void addLeftOutRows(long rows) {
    units += rows;
    leftOut += rows;
  }

  /** Forgets everything except the records. */
  protected void clear() {
    places.clear();
    bad.clear();
    units = 0;
    leftOut = 0;
  }

  /**
   * Why a line or a row is not a record.
   *
   * @param label what such lines are counted under
   * @param message the reason as an error message
   * @param tip the options that would let it pass, or nothing
   * @param stops whether it stops the reading; otherwise it is left out
   */
  public record Reason(String label, String message, String tip, boolean stops) {}

  /**
   * A line or a row that is not a record.
   *
   * @param unit its number, from 0; of several lines, that of the first
   * @param text the array with its text, in {@code from} to {@code to}; null if it has none
   */
  record Bad(long unit, Reason reason, byte @Nullable [] text, int from, int to) {}
}
