package tech.bsdb.tools.input;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowConverter;
import tech.bsdb.tools.rows.RowResolution;
import tech.bsdb.tools.rows.RowSchema;

/** How the records of the input are written. */
public sealed interface Format {
  /** The typed rows to make, or null if values are bytes. */
  default @Nullable Rows rows() {
    return null;
  }

  /**
   * Typed rows.
   *
   * @param schema the fields
   * @param ignoreExtraFields whether fields that the schema does not have are left out; otherwise
   *     they are an error
   * @param longest the longest row allowed, in bytes; the line of a longer one is a bad line
   * @param resolution how rows become those of another schema; null if they are stored as they are
   */
  record Rows(
      RowSchema schema,
      boolean ignoreExtraFields,
      int longest,
      @Nullable RowResolution resolution) {
    /** Rows that are stored as they are. */
    public Rows(RowSchema schema, boolean ignoreExtraFields, int longest) {
      this(schema, ignoreExtraFields, longest, null);
    }

    /** The schema of the rows that come out. */
    RowSchema stored() {
      return resolution == null ? schema : resolution.stored();
    }

    /** Creates the converter for one thread; null if rows are stored as they are. */
    @Nullable RowConverter newConverter() {
      return resolution == null || resolution.isIdentity() ? null : resolution.newConverter();
    }
  }

  /**
   * One record per line: key, separator, value. The line is split at the first occurrence of the
   * separator.
   *
   * @param separator literal text of at least one character, without a line feed
   */
  record Text(String separator) implements Format {
    /** Checks the separator. */
    public Text {
      if (separator.isEmpty() || separator.indexOf('\n') >= 0) {
        throw new IllegalArgumentException(
            "separator \"" + separator + "\" is empty or has a line feed");
      }
    }
  }

  /** A key on each line, which is to be deleted. */
  record Keys() implements Format {}

  /**
   * Comma-separated values as in RFC 4180, with a header. A column is identified by its name in the
   * header or, if the header has no such name, by its number from 1.
   *
   * <p>The value is the text of the value column if there is one; {@code values} says how several
   * are combined.
   *
   * @param keyColumn the column of the key; null for the first
   * @param valueColumns the columns of the value, in the desired order; empty for all except the
   *     key, in the file's order
   * @param values how several value columns are combined
   * @param delimiter the character between fields: ASCII, neither a quote nor a line end
   * @param rows the typed rows to make, without value columns; null if values are bytes
   */
  record Csv(
      @Nullable String keyColumn,
      List<String> valueColumns,
      Values values,
      char delimiter,
      @Nullable Rows rows)
      implements Format {
    /** A format whose values are not typed rows. */
    public Csv(
        @Nullable String keyColumn, List<String> valueColumns, Values values, char delimiter) {
      this(keyColumn, valueColumns, values, delimiter, null);
    }

    /** Checks the delimiter. */
    public Csv {
      if (delimiter == 0
          || delimiter > 126
          || delimiter == '"'
          || delimiter == '\r'
          || delimiter == '\n') {
        throw new IllegalArgumentException(
            "CSV delimiter "
                + (int) delimiter
                + " is not an ASCII character, or is a quote or a line end");
      }
      valueColumns = List.copyOf(valueColumns);
      if (rows != null && !valueColumns.isEmpty()) {
        throw new IllegalArgumentException("typed rows have the columns of their schema");
      }
    }

    /** How several columns are combined. */
    public enum Values {
      /** A JSON object of strings, {@code {"column":"text",...}}. */
      JSON,

      /** A line of CSV: the fields with the delimiter between them, quoted if necessary. */
      DELIMITED
    }
  }

  /**
   * One JSON object per line: the key is one of its fields, the value is the unchanged line or the
   * typed row that it represents.
   *
   * @param keyField the name of the field: its value is a string, a number (its digits as written)
   *     or a boolean
   * @param rows the typed rows to make; null if values are bytes
   */
  record JsonLines(String keyField, @Nullable Rows rows) implements Format {
    /** A format whose values are the lines. */
    public JsonLines(String keyField) {
      this(keyField, null);
    }
  }
}
