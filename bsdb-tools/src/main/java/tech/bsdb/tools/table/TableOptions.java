package tech.bsdb.tools.table;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.DeleteField;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.where.Where;

/**
 * Which rows to read and how to turn them into records. Immutable.
 *
 * @param inputs files and directories, local or on any Hadoop file system, in reading order
 * @param keyColumns the key columns, at least one; a field of a struct is a dotted path
 * @param keyJoin the separator between several key columns; null for one column
 * @param valueColumns the columns of the row, in order; empty for all, in the order of the first
 *     file
 * @param rawColumn the column whose bytes are the value, instead of a row; null for a row
 * @param keysOnly whether to leave all values empty
 * @param onBadRow what to do with a row that cannot become a record
 * @param rejects a file for the locations of such rows, or null
 * @param allowEmptyKey whether empty keys are allowed
 * @param mostValueBytes the maximum row length, since a longer one would be cut (approximate mode);
 *     otherwise {@link Integer#MAX_VALUE}
 * @param threads the number of reading threads, 1 to 256; affects only the time taken
 * @param partitions how to treat directories named {@code NAME=VALUE}
 * @param deleteField the column that turns its row into the deletion of its key, or null
 * @param stored the schema to which rows are converted; null to leave them as they are
 * @param types which types columns get
 * @param where which rows are wanted; null for all
 */
public record TableOptions(
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
    Partitions partitions,
    @Nullable DeleteField deleteField,
    @Nullable RowSchema stored,
    Types types,
    @Nullable Where where) {

  /** How to treat directories named {@code NAME=VALUE}. */
  public enum Partitions {
    /** As columns with types inferred from all their values. */
    INFER,
    /** As text columns. */
    TEXT,
    /** Ignore them. */
    IGNORE
  }

  /** The unit of timestamps of 96 bits. */
  public enum Int96Unit {
    /** Nanoseconds: 1677 to 2262. */
    NANOS,
    /** Microseconds: all years. Nanoseconds are rounded down. */
    MICROS
  }

  /**
   * Which types columns get.
   *
   * @param int96 the unit of timestamps of 96 bits
   * @param widen whether a column whose types differ gets the type that holds all their values
   */
  public record Types(Int96Unit int96, boolean widen) {
    /** Nanoseconds, and no types that differ by more than the size of integers or floats. */
    public static final Types DEFAULT = new Types(Int96Unit.NANOS, false);
  }

  /** Checks what can be checked without reading files. */
  public TableOptions {
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

  /**
   * Returns these options for changes of a database.
   *
   * @param deleteField {@link #deleteField}
   * @param stored {@link #stored}
   */
  public TableOptions withChanges(@Nullable DeleteField deleteField, @Nullable RowSchema stored) {
    return new TableOptions(
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
        partitions,
        deleteField,
        stored,
        types,
        where);
  }

  /** Whether a column is named for the key or the value. */
  public boolean wants(String column) {
    boolean row = rawColumn == null && !keysOnly && valueColumns.isEmpty();
    return row || named().stream().map(AnyCase::of).anyMatch(AnyCase.of(column)::equals);
  }

  /**
   * Whether a column of a file may be needed for the key, the value, deletions or the condition: it
   * is named, in any case, or a field below it is, or all columns are.
   */
  public boolean needs(String column) {
    if (rawColumn == null && !keysOnly && valueColumns.isEmpty()) {
      return true;
    }
    String own = AnyCase.of(column);
    return named().stream()
        .map(AnyCase::of)
        .anyMatch(name -> name.equals(own) || name.startsWith(own + "."));
  }

  /** Returns the columns that are named for the key, the value, deletions or the condition. */
  List<String> named() {
    List<String> named = new ArrayList<>(keyColumns);
    named.addAll(valueColumns);
    if (rawColumn != null) {
      named.add(rawColumn);
    }
    if (deleteField != null) {
      named.add(deleteField.field());
    }
    if (where != null) {
      where.columns().forEach(column -> named.add(column.text()));
    }
    return named;
  }
}
