package tech.bsdb.tools.input;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowSchema;

/** How the records of the input are written. */
public sealed interface Format {
  /** What the values are made of where they are typed rows, or null where they are bytes. */
  default @Nullable Rows rows() {
    return null;
  }

  /**
   * Typed rows.
   *
   * @param schema what the fields are
   * @param ignoreExtraFields whether fields that the schema does not have are left out; else they
   *     are an error
   * @param longest bytes that a row may have; with more, its line is a bad line
   */
  record Rows(RowSchema schema, boolean ignoreExtraFields, int longest) {}

  /**
   * A record a line: key, separator, value. The line is split at the first occurrence of the
   * separator.
   *
   * @param separator a literal, at least one character and no line feed
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

  /**
   * Comma-separated values as in RFC 4180, with a header. A column is named by the header's name
   * for it or, where the header has no such name, by its number from 1.
   *
   * <p>The value is the text of the value column where there is one, else what {@code values} says.
   *
   * @param keyColumn the column of the key; null for the first
   * @param valueColumns the columns of the value, in the order wanted; empty for all but the key,
   *     in the file's order
   * @param values what several value columns make
   * @param delimiter what stands between fields: an ASCII character, neither a quote nor a line end
   * @param rows what the columns are where the value is a typed row; then there are no value
   *     columns
   */
  record Csv(
      @Nullable String keyColumn,
      List<String> valueColumns,
      Values values,
      char delimiter,
      @Nullable Rows rows)
      implements Format {
    /** Values that are no typed rows. */
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

    /** What several columns make. */
    public enum Values {
      /** A JSON object of strings, {@code {"column":"text",...}}. */
      JSON,

      /** A line of CSV: the fields with the delimiter between them, quoted where they need it. */
      DELIMITED
    }
  }

  /**
   * A JSON object a line: the key is one of its fields, the value is the line just as it is
   * written, or the typed row that it stands for.
   *
   * @param keyField the name of the field: its value is a string, a number (its digits as written)
   *     or a boolean
   * @param rows what the fields are where the value is a typed row
   */
  record JsonLines(String keyField, @Nullable Rows rows) implements Format {
    /** Values that are the lines. */
    public JsonLines(String keyField) {
      this(keyField, null);
    }
  }
}
