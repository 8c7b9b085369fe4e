package tech.bsdb.tools.rows;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the fields of CSV rows as rows of a schema that has only scalar columns (the forms:
 * docs/guides/rows.md). An empty field is null if the column is nullable. Not thread-safe.
 */
public final class CsvRows {
  private final List<Column> columns = new ArrayList<>();
  private final RowBuffer out = new RowBuffer();

  /**
   * Creates an encoder for a schema.
   *
   * @throws IllegalArgumentException if no row can be written with the schema; the message says why
   */
  public CsvRows(RowSchema schema) {
    Schema record = schema.avro();
    if (record.isError()) {
      throw new IllegalArgumentException(
          record.getFullName() + " is an error type, which no row can have");
    }
    record.getFields().forEach(field -> columns.add(new Column(field)));
  }

  /** Begins a row; the caller then puts each field of the schema, in order. */
  public void begin() {
    out.reset();
  }

  /**
   * Appends a field.
   *
   * @param utf8 the array with the field's text
   * @throws BadFieldException if the text is not a value of the field
   */
  public void put(int field, byte[] utf8, int from, int length) throws BadFieldException {
    columns.get(field).put(utf8, from, length, out);
  }

  /**
   * Appends a field that has no text.
   *
   * @throws IllegalArgumentException if the field {@linkplain #needsText needs} text
   */
  public void putAbsent(int field) {
    byte[] bytes = columns.get(field).absent;
    if (bytes == null) {
      throw new IllegalArgumentException("field " + field + " needs text");
    }
    out.put(bytes);
  }

  /** Whether a field has no default and is not nullable. */
  public boolean needsText(int field) {
    return columns.get(field).absent == null;
  }

  /** Returns the row; valid until the next one. */
  public RowBuffer row() {
    return out;
  }

  /** A column and the types that its values may have. */
  private static final class Column {
    private static final int NONE = -1;

    private final String name;
    private final byte @Nullable [] absent;
    private final boolean union;
    private final int nullBranch;
    private final List<ScalarText> types = new ArrayList<>();
    private final List<Integer> branches = new ArrayList<>();

    Column(Schema.Field field) {
      this.name = RowSchema.column(field);
      this.absent = AbsentField.of(field);
      this.union = field.schema().getType() == Schema.Type.UNION;
      List<Schema> schemas = union ? field.schema().getTypes() : List.of(field.schema());
      int ofNull = NONE;
      for (int i = 0; i < schemas.size(); i++) {
        ScalarText type = ScalarText.of(schemas.get(i));
        if (type != null) {
          types.add(type);
          branches.add(i);
        } else if (schemas.get(i).getType() == Schema.Type.NULL) {
          ofNull = i;
        } else {
          String problem = "\" is of the type " + schemas.get(i).getType().getName();
          throw new IllegalArgumentException(
              "column \"" + name + problem + ", which a CSV field cannot hold; JSON lines can");
        }
      }
      this.nullBranch = ofNull;
    }

    void put(byte[] utf8, int from, int length, RowBuffer out) throws BadFieldException {
      if (length == 0 && nullBranch != NONE) {
        if (union) {
          out.putLong(nullBranch);
        }
        return;
      }
      int start = out.length();
      String problem = null;
      for (int i = 0; i < types.size(); i++) {
        if (union) {
          out.putLong(branches.get(i));
        }
        problem = types.get(i).put(utf8, from, length, out);
        if (problem == null) {
          return;
        }
        out.truncate(start);
      }
      char[] text = new String(utf8, from, length, StandardCharsets.UTF_8).toCharArray();
      throw BadFieldException.value(
              BadFieldException.shown(text, 0, text.length),
              types.size() == 1 && problem != null ? problem : "is not " + names())
          .in(name);
    }

    private String names() {
      return types.isEmpty()
          ? "null"
          : String.join(", nor ", types.stream().map(ScalarText::name).toList());
    }
  }
}
