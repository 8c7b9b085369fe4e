package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The columns of one CSV file: where the key and the values stand in its rows. */
final class CsvHeader {
  private final int columns;
  private final int keyColumn;
  private final int[] valueColumns;
  private final byte[][] valueNames;

  private CsvHeader(int columns, int keyColumn, int[] valueColumns, byte[][] valueNames) {
    this.columns = columns;
    this.keyColumn = keyColumn;
    this.valueColumns = valueColumns;
    this.valueNames = valueNames;
  }

  /**
   * Looks the columns of the format up.
   *
   * @throws InputException if there is no such column or several, or two fields of a JSON object
   *     would have the same name
   */
  static CsvHeader of(List<String> names, Format.Csv format, String file) throws InputException {
    @Nullable String keyName = format.keyColumn();
    int key = keyName == null ? 0 : indexOf(keyName, names, file);
    List<Integer> values = new ArrayList<>();
    for (String value : format.valueColumns()) {
      values.add(indexOf(value, names, file));
    }
    if (values.isEmpty()) {
      for (int column = 0; column < names.size(); column++) {
        if (column != key) {
          values.add(column);
        }
      }
    }
    if (values.isEmpty()) {
      throw new InputException(
          file
              + ": no column for the value beside the key "
              + show(names)
              + "; is the delimiter right?");
    }
    if (values.size() > 1 && format.values() == Format.Csv.Values.JSON) {
      for (int value : values) {
        if (values.stream().filter(other -> names.get(other).equals(names.get(value))).count()
            > 1) {
          throw new InputException(
              file
                  + ": column \""
                  + names.get(value)
                  + "\" comes twice in the value; the columns are "
                  + show(names));
        }
      }
    }
    byte[][] valueNames =
        values.stream()
            .map(
                value ->
                    ('"'
                        + new String(
                            JsonStringEncoder.getInstance().quoteAsString(names.get(value)))
                        + "\":"))
            .map(name -> name.getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new);
    return new CsvHeader(
        names.size(), key, values.stream().mapToInt(Integer::intValue).toArray(), valueNames);
  }

  private static int indexOf(String column, List<String> names, String file) throws InputException {
    int index = names.indexOf(column);
    if (index >= 0) {
      if (Collections.frequency(names, column) > 1) {
        throw new InputException(
            file
                + ": more than one column \""
                + column
                + "\"; name it by its number; the columns are "
                + show(names));
      }
      return index;
    }
    if (column.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(column);
      if (number >= 1 && number <= names.size()) {
        return number - 1;
      }
    }
    throw new InputException(
        file + ": no column \"" + column + "\"; the columns are " + show(names));
  }

  private static String show(List<String> names) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < names.size(); i++) {
      shown.append(i == 0 ? "" : ", ").append(i + 1).append(" \"").append(names.get(i)).append('"');
    }
    return shown.toString();
  }

  /** How many fields each row has. */
  int columns() {
    return columns;
  }

  /** The index of the key's column, from 0. */
  int keyColumn() {
    return keyColumn;
  }

  /** How many columns make the value, at least 1. */
  int valueCount() {
    return valueColumns.length;
  }

  /** The index of the {@code i}-th value column, from 0. */
  int valueColumn(int i) {
    return valueColumns[i];
  }

  /**
   * The name of the {@code i}-th value column as a JSON object has it before the value: quoted,
   * with a colon.
   */
  byte[] jsonName(int i) {
    return valueNames[i];
  }

  @Override
  public String toString() {
    return columns + " columns, key " + keyColumn + ", values " + Arrays.toString(valueColumns);
  }
}
