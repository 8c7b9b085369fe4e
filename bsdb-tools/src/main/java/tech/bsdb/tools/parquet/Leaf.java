package tech.bsdb.tools.parquet;

import java.io.IOException;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.jspecify.annotations.Nullable;

/**
 * A primitive column of one file, read row group by row group. Its state describes the current
 * entry: a value, or a null or empty list somewhere above it.
 */
final class Leaf {
  private final ColumnDescriptor descriptor;
  private final LegacyCalendar calendar;
  private @Nullable ColumnReader reader;
  private long entriesLeft;

  /**
   * Creates a leaf.
   *
   * @param calendar the calendar of its file
   */
  Leaf(ColumnDescriptor descriptor, LegacyCalendar calendar) {
    this.descriptor = descriptor;
    this.calendar = calendar;
  }

  LegacyCalendar calendar() {
    return calendar;
  }

  ColumnDescriptor descriptor() {
    return descriptor;
  }

  /** Returns the column's path, with dots between its parts. */
  String name() {
    return String.join(".", descriptor.getPath());
  }

  /** Begins a row group with this many entries. */
  void begin(ColumnReader reader, long entries) {
    this.reader = reader;
    this.entriesLeft = entries;
  }

  /** Checks that the row group has no entries beyond its rows. */
  void end() throws IOException {
    if (entriesLeft != 0) {
      throw new IOException(
          "damaged: column " + name() + " has " + entriesLeft + " entries too many");
    }
    reader = null;
  }

  /** Returns the reader positioned at the current value. */
  ColumnReader reader() {
    ColumnReader current = reader;
    if (current == null) {
      throw new IllegalStateException("no row group");
    }
    return current;
  }

  int definitionLevel() {
    checkNotBeyond();
    return reader().getCurrentDefinitionLevel();
  }

  /** Returns the repetition level; 0 after the last entry. */
  int repetitionLevel() {
    return entriesLeft == 0 ? 0 : reader().getCurrentRepetitionLevel();
  }

  /** Whether the current entry is a value, not a null or an empty list above it. */
  boolean hasValue() {
    return definitionLevel() == descriptor.getMaxDefinitionLevel();
  }

  /** Advances to the next entry. */
  void next() {
    checkNotBeyond();
    entriesLeft--;
    reader().consume();
  }

  /** Advances past all entries of the current row, none of which has been passed. */
  void nextRow() {
    do {
      if (hasValue()) {
        reader().skip(); // does nothing if the value was read
      }
      next();
    } while (repetitionLevel() > 0);
  }

  private void checkNotBeyond() {
    if (entriesLeft <= 0) {
      throw new IllegalStateException("column " + name() + " has too few entries");
    }
  }
}
