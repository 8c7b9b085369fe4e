package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.BadInputException;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.Places;
import tech.bsdb.tools.input.Rejects;
import tech.bsdb.tools.parquet.RowBatch.BadRow;
import tech.bsdb.tools.parquet.RowPipeline.Task;

/** Accounts for every row, batch by batch in input order. */
final class RowLedger {
  private final ParquetOptions options;
  private final List<ParquetFile> files;
  private final Places places;
  private final Map<String, Long> rejectedByReason = new TreeMap<>();
  private long rows;
  private long records;
  private long rejected;

  RowLedger(ParquetOptions options, List<ParquetFile> files, Places places) {
    this.options = options;
    this.files = files;
    this.places = places;
  }

  /**
   * Records the next batch.
   *
   * @param rejects receives its bad rows, or null
   * @throws BadInputException if it has a bad row that may not be skipped
   */
  void enter(Task task, RowBatch batch, @Nullable Rejects rejects) throws IOException {
    int next = 0;
    for (BadRow bad : batch.bad()) {
      enterGood(task, batch, next, bad.row());
      enterBad(task, batch, bad, rejects);
      next = bad.row() + 1;
    }
    enterGood(task, batch, next, batch.rows());
    rows += batch.rows();
  }

  private void enterGood(Task task, RowBatch batch, int from, int to) {
    if (to > from) {
      places.add(records, to - from, task.fileNumber, batch.firstRow() + from + 1);
      records += to - from;
    }
  }

  private void enterBad(Task task, RowBatch batch, BadRow bad, @Nullable Rejects rejects)
      throws IOException {
    long row = batch.firstRow() + bad.row() + 1;
    String reason = bad.reason() + (bad.detail().isEmpty() ? "" : " (" + bad.detail() + ")");
    String name = task.file.name();
    if (rejects != null) {
      rejects.write(place(name, row), reason);
    }
    if (options.onBadRow() == OnBadLine.FAIL) {
      String skip = "--on-bad-line skip leaves such rows out";
      throw BadInputException.row(
          name,
          row,
          reason,
          bad.reason().equals("empty key") ? "--allow-empty-key allows it, " + skip : skip);
    }
    rejectedByReason.merge(bad.reason(), 1L, Long::sum);
    rejected++;
  }

  /** Returns where a record is from, or null if unknown. */
  @Nullable String place(long record) {
    Places.Place place = places.of(record);
    return place == null ? null : place(files.get(place.file()).name(), place.line());
  }

  private static String place(String file, long row) {
    return file + ": row " + row;
  }

  long records() {
    return records;
  }

  /** Returns a report of what has been recorded so far. */
  InputReport report(long bytes) {
    return new InputReport(rows, records, rejectedByReason, rejected, bytes);
  }
}
