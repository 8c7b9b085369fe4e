package tech.bsdb.tools.input;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.CsvRows;
import tech.bsdb.tools.rows.FieldNames;

/** The columns of one CSV file: the positions of the key and the values in its rows. */
final class CsvHeader {
  /** Stands for the column of a field that has none. */
  static final int ABSENT = -1;

  /** The number of fields in each row. */
  final int columns;

  /** The index of the key's column, from 0. */
  final int keyColumn;

  /** The index of the column that tells deletions, from 0, or {@link #ABSENT}. */
  final int deleteColumn;

  /**
   * The indexes of the value columns, from 0, at least one; with typed rows, those of the fields'
   * columns, or {@link #ABSENT}.
   */
  final int[] valueColumns;

  /**
   * The names of the value columns as they precede the values in a JSON object: quoted, with a
   * colon. None with typed rows.
   */
  final byte[][] jsonNames;

  private CsvHeader(
      int columns, int keyColumn, int deleteColumn, int[] valueColumns, byte[][] jsonNames) {
    this.columns = columns;
    this.keyColumn = keyColumn;
    this.deleteColumn = deleteColumn;
    this.valueColumns = valueColumns;
    this.jsonNames = jsonNames;
  }

  /**
   * Takes the header from a file's first chunk: moves the chunk's start past it and counts its
   * lines.
   *
   * @throws InputException if the header is bad, or its columns are not those of the format
   */
  static CsvHeader take(Chunk first, String file, Format.Csv format, InputOptions options)
      throws InputException {
    CsvScanner scanner = new CsvScanner(format.delimiter());
    int end = scanner.next(first.bytes, 0, first.to);
    Defect defect = first.beyondHolding != null ? first.beyondHolding : scanner.defect(false);
    if (defect != null) {
      throw new InputException(
          file + ":1: " + defect.describe(options) + ", in place of a CSV header");
    }
    first.from = end;
    first.units = scanner.lines();
    return of(scanner.texts(), format, options.deleteField(), file);
  }

  /**
   * Looks up the columns of the format.
   *
   * @throws InputException if a column is missing or ambiguous, or two fields of a JSON object
   *     would have the same name, or the columns do not match the rows' schema
   */
  private static CsvHeader of(
      List<String> names, Format.Csv format, @Nullable DeleteField deleteField, String file)
      throws InputException {
    @Nullable String keyName = format.keyColumn();
    int key = keyName == null ? 0 : indexOf(keyName, names, file);
    int delete = deleteField == null ? ABSENT : indexOf(deleteField.field(), names, file);
    Format.Rows rows = format.rows();
    if (rows != null) {
      int[] fields = columnsOf(rows, names, key, delete, file);
      return new CsvHeader(names.size(), key, delete, fields, new byte[0][]);
    }
    List<Integer> values = new ArrayList<>();
    for (String value : format.valueColumns()) {
      values.add(indexOf(value, names, file));
    }
    if (values.isEmpty()) {
      IntStream.range(0, names.size())
          .filter(column -> column != key && column != delete)
          .forEach(values::add);
    }
    if (values.isEmpty()) {
      String problem = "no column for the value besides the key " + show(names);
      throw new InputException(file + ": " + problem + "; is the delimiter right?");
    }
    if (values.size() > 1 && format.values() == Format.Csv.Values.JSON) {
      for (int value : values) {
        String name = names.get(value);
        if (values.stream().filter(other -> names.get(other).equals(name)).count() > 1) {
          throw fault(file, "column \"" + name + "\" comes twice in the value", names);
        }
      }
    }
    byte[][] jsonNames =
        values.stream()
            .map(value -> JsonStringEncoder.getInstance().quoteAsString(names.get(value)))
            .map(name -> ('"' + new String(name) + "\":").getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new);
    return new CsvHeader(
        names.size(),
        key,
        delete,
        values.stream().mapToInt(Integer::intValue).toArray(),
        jsonNames);
  }

  /** The column of each field of the schema, or ABSENT. */
  private static int[] columnsOf(
      Format.Rows rows, List<String> names, int key, int delete, String file)
      throws InputException {
    List<String> fields = rows.schema().columns();
    FieldNames numbers = new FieldNames(rows.schema().avro());
    int[] columns = new int[fields.size()];
    Arrays.fill(columns, ABSENT);
    List<Integer> extra = new ArrayList<>();
    for (int column = 0; column < names.size(); column++) {
      int field = numbers.find(names.get(column));
      if (field < 0) {
        if (column != key && column != delete && !rows.ignoreExtraFields()) {
          extra.add(column);
        }
      } else if (columns[field] != ABSENT) {
        String name = fields.get(field);
        throw fault(
            file, "more than one column for the field \"" + name + "\" of the schema", names);
      } else {
        columns[field] = column;
      }
    }
    CsvRows encoder = new CsvRows(rows.schema());
    for (int field = 0; field < columns.length; field++) {
      if (columns[field] == ABSENT && encoder.needsText(field)) {
        String problem = "no column for the field \"" + fields.get(field) + "\" of the schema";
        throw fault(file, problem + ", which has no default and may not be null", names);
      }
    }
    if (!extra.isEmpty()) {
      String columnsOrOne = extra.size() == 1 ? "the column " : "the columns ";
      String problem = "the schema has no field for " + columnsOrOne + show(names, extra);
      throw new InputException(
          file + ": " + problem + " (--ignore-extra-fields leaves such columns out)");
    }
    return columns;
  }

  private static int indexOf(String column, List<String> names, String file) throws InputException {
    int index = names.indexOf(column);
    if (index >= 0) {
      if (Collections.frequency(names, column) > 1) {
        throw fault(file, "more than one column \"" + column + "\"; name it by its number", names);
      }
      return index;
    }
    if (column.matches("[0-9]{1,9}")) {
      int number = Integer.parseInt(column);
      if (number >= 1 && number <= names.size()) {
        return number - 1;
      }
    }
    throw fault(file, "no column \"" + column + '"', names);
  }

  private static InputException fault(String file, String problem, List<String> names) {
    return new InputException(file + ": " + problem + "; the columns are " + show(names));
  }

  private static String show(List<String> names) {
    return show(names, IntStream.range(0, names.size()).boxed().toList());
  }

  private static String show(List<String> names, List<Integer> columns) {
    return columns.stream()
        .map(column -> (column + 1) + " \"" + names.get(column) + '"')
        .collect(Collectors.joining(", "));
  }
}
