package tech.bsdb.tools.parquet;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputOptions.OnBadLine;

/**
 * Which rows to read and what to make of them: an immutable value.
 *
 * @param inputs files and directories, local or of any file system that Hadoop knows, in the order
 *     to be read
 * @param keyColumns the columns that make the key, at least one; a field of a struct by its path
 *     with points
 * @param keyJoin what stands between several columns in the key; null for one column
 * @param valueColumns the columns of the row, in their order; empty for all, in the order of the
 *     first file
 * @param rawColumn the column whose bytes are the value, in place of a row; null for a row
 * @param keysOnly whether no values are wanted: they are empty
 * @param onBadRow what happens to a row that cannot be a record
 * @param rejects a file for the places of such rows, or null
 * @param allowEmptyKey whether an empty key is a key
 * @param mostValueBytes a longer row is no record, since it would be cut (approximate mode); else
 *     {@link Integer#MAX_VALUE}
 * @param threads threads that read, 1 to 256; they change nothing but the time it takes
 * @param partitions what becomes of directories that are named {@code NAME=VALUE}
 */
public record ParquetOptions(
    List<String> inputs,
    List<String> keyColumns,
    @Nullable String keyJoin,
    List<String> valueColumns,
    @Nullable String rawColumn,
    boolean keysOnly,
    OnBadLine onBadRow,
    @Nullable Path rejects,
    boolean allowEmptyKey,
    int mostValueBytes,
    int threads,
    Partitions partitions) {

  /** What becomes of directories that are named {@code NAME=VALUE}. */
  public enum Partitions {
    /** Columns, of the types that all their values have. */
    INFER,
    /** Columns of text. */
    TEXT,
    /** Nothing. */
    IGNORE
  }

  /** Checks what can be checked without looking at the files. */
  public ParquetOptions {
    inputs = List.copyOf(inputs);
    keyColumns = List.copyOf(keyColumns);
    valueColumns = List.copyOf(valueColumns);
    if (keyColumns.isEmpty()) {
      throw new IllegalArgumentException("no key column");
    }
    if (keyColumns.size() > 1 && keyJoin == null) {
      throw new IllegalArgumentException("several key columns, and nothing to join them");
    }
    if (rawColumn != null && !valueColumns.isEmpty()) {
      throw new IllegalArgumentException("a raw column and columns of a row");
    }
    if (threads < 1 || threads > 256) {
      throw new IllegalArgumentException("threads is " + threads + ", not in 1 to 256");
    }
  }

  /** The options of someone who wants partitions as columns of the types that they have. */
  public ParquetOptions(
      List<String> inputs,
      List<String> keyColumns,
      @Nullable String keyJoin,
      List<String> valueColumns,
      @Nullable String rawColumn,
      boolean keysOnly,
      OnBadLine onBadRow,
      @Nullable Path rejects,
      boolean allowEmptyKey,
      int mostValueBytes,
      int threads) {
    this(
        inputs,
        keyColumns,
        keyJoin,
        valueColumns,
        rawColumn,
        keysOnly,
        onBadRow,
        rejects,
        allowEmptyKey,
        mostValueBytes,
        threads,
        Partitions.INFER);
  }

  /** The same with partitions taken another way. */
  public ParquetOptions withPartitions(Partitions other) {
    return new ParquetOptions(
        inputs,
        keyColumns,
        keyJoin,
        valueColumns,
        rawColumn,
        keysOnly,
        onBadRow,
        rejects,
        allowEmptyKey,
        mostValueBytes,
        threads,
        other);
  }

  /** Whether a column is asked for, in the key or the value. */
  boolean wants(String column) {
    boolean row = rawColumn == null && !keysOnly && valueColumns.isEmpty();
    return row
        || keyColumns.contains(column)
        || valueColumns.contains(column)
        || column.equals(rawColumn);
  }
}
