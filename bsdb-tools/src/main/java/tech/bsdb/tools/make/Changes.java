package tech.bsdb.tools.make;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.tools.input.Input;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.input.RecordSource;
import tech.bsdb.tools.input.RecordVisitor;

/** The changes of a database: records of one source, then keys to delete; either may be missing. */
final class Changes implements RecordSource {
  private static final InputReport NOTHING = new InputReport(0, 0, Map.of(), 0, 0);

  private final @Nullable RecordSource records;
  private final @Nullable Input keys;

  /** The number of records, once all are read. */
  private long recordsRead = Long.MAX_VALUE;

  private Changes(@Nullable RecordSource records, @Nullable Input keys) {
    this.records = records;
    this.keys = keys;
  }

  /**
   * Finds the changes.
   *
   * @param records the source of the records, or null
   * @param keys where the keys to delete are; no inputs if there are none
   * @throws InputException if an input is missing or cannot be read
   */
  static Changes open(BuildRun.@Nullable Opener records, InputOptions keys) throws IOException {
    RecordSource opened = records == null ? null : records.open();
    try {
      return new Changes(opened, keys.inputs().isEmpty() ? null : Input.open(keys));
    } catch (IOException | RuntimeException | Error e) {
      if (opened != null) {
        opened.close();
      }
      throw e;
    }
  }

  @Override
  public String unit() {
    return records == null ? "lines" : records.unit();
  }

  @Override
  public @Nullable String valueSchema() {
    return records == null ? null : records.valueSchema();
  }

  @Override
  public List<Path> databases() {
    List<Path> databases = new ArrayList<>();
    if (records != null) {
      databases.addAll(records.databases());
    }
    if (keys != null) {
      databases.addAll(keys.databases());
    }
    return databases;
  }

  @Override
  public List<String> notes() {
    return records == null ? List.of() : records.notes();
  }

  @Override
  public int sample(DatabaseBuilder builder, int wanted) {
    return 0; // the base has more records, and the builder samples those
  }

  @Override
  public InputReport feed(DatabaseBuilder builder, InputListener listener) throws IOException {
    InputReport report = records == null ? NOTHING : records.feed(builder, listener);
    recordsRead = report.records();
    if (keys == null) {
      return report;
    }
    InputReport deleted =
        keys.feed(
            builder,
            (bytes, total, count) -> listener.progress(bytes, total, report.records() + count));
    return report.withKeysToDelete(deleted);
  }

  @Override
  public InputReport forEach(RecordVisitor visitor, InputListener listener) throws IOException {
    InputReport report = records == null ? NOTHING : records.forEach(visitor, listener);
    recordsRead = report.records();
    return keys == null ? report : report.withKeysToDelete(keys.forEach(visitor, listener));
  }

  @Override
  public void publishRejects() throws IOException {
    if (records != null) {
      records.publishRejects();
    }
  }

  /** The place of a record, or of a key to delete, which are numbered after all records. */
  @Override
  public @Nullable String place(long recordNumber) {
    if (keys != null && recordNumber >= recordsRead) {
      return keys.place(recordNumber - recordsRead);
    }
    return records == null ? null : records.place(recordNumber);
  }

  @Override
  public void stop() {
    if (records != null) {
      records.stop();
    }
    if (keys != null) {
      keys.stop();
    }
  }

  @Override
  public void close() {
    try {
      if (records != null) {
        records.close();
      }
    } finally {
      if (keys != null) {
        keys.close();
      }
    }
  }
}
