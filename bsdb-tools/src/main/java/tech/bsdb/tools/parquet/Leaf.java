package tech.bsdb.tools.parquet;

import java.io.IOException;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.jspecify.annotations.Nullable;

/**
 * A primitive column of one file, row group after row group. What it says is of the entry at hand:
 * a value, or a null or an empty list somewhere above it.
 */
final class Leaf {
  private final ColumnDescriptor descriptor;
  private @Nullable ColumnReader reader;
  private long entriesLeft;

  Leaf(ColumnDescriptor descriptor) {
    this.descriptor = descriptor;
  }

  ColumnDescriptor descriptor() {
    return descriptor;
  }

  /** The column's path, with points between its parts. */
  String name() {
    return String.join(".", descriptor.getPath());
  }

  /** Begins a row group that has so many entries. */
  void begin(ColumnReader reader, long entries) {
    this.reader = reader;
    this.entriesLeft = entries;
  }

  /** Sees that the row group had no more entries than its rows. */
  void end() throws IOException {
    if (entriesLeft != 0) {
      throw new IOException(
          "damaged: column " + name() + " has " + entriesLeft + " entries too many");
    }
    reader = null;
  }

  /** The reader, to ask for the value at hand. */
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

  /** 0 behind the last entry. */
  int repetitionLevel() {
    return entriesLeft == 0 ? 0 : reader().getCurrentRepetitionLevel();
  }

  /** Whether there is a value, and not a null or an empty list above it. */
  boolean hasValue() {
    return definitionLevel() == descriptor.getMaxDefinitionLevel();
  }

  /** Goes on to the next entry. */
  void next() {
    checkNotBeyond();
    entriesLeft--;
    reader().consume();
  }

  private void checkNotBeyond() {
    if (entriesLeft <= 0) {
      throw new IllegalStateException("column " + name() + " has too few entries");
    }
  }
}
