package tech.bsdb.tools.rows;

import java.util.ArrayList;
import java.util.List;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;

/**
 * The schema of a database's rows: an Avro record, whose fields know the names of their columns.
 * Immutable and thread-safe.
 */
public final class RowSchema {
  /** The property of a field whose column has a name that Avro does not allow: that name. */
  public static final String COLUMN = "column";

  /** A decimal whose length is this many bytes above what its precision takes is none. */
  private static final int SPARE = 64;

  private final Schema avro;

  private RowSchema(Schema avro) {
    this.avro = avro;
  }

  /**
   * Wraps a schema.
   *
   * @throws IllegalArgumentException if it is not that of a record
   */
  public static RowSchema of(Schema avro) {
    if (avro.getType() != Schema.Type.RECORD) {
      throw new IllegalArgumentException(
          "the schema of rows is a record, not " + avro.getType().getName());
    }
    return new RowSchema(avro);
  }

  /**
   * Reads a schema.
   *
   * @param json as Avro writes it
   * @throws IllegalArgumentException if it is not the schema of a record; the message says why
   */
  public static RowSchema parse(String json) {
    try {
      return of(new Schema.Parser().parse(json));
    } catch (SchemaParseException e) {
      throw new IllegalArgumentException("not an Avro schema: " + reason(e), e);
    } catch (AvroRuntimeException | UnsupportedOperationException e) { // of a fixed too long
      throw new IllegalArgumentException("not a valid Avro schema: " + reason(e), e);
    }
  }

  /** One line: behind it Jackson says where it is, in its own terms. */
  private static String reason(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    return message.lines().findFirst().orElse("").replaceFirst("^com\\.fasterxml\\S+: ", "");
  }

  /**
   * The schema that a database has stored, or null where its values are bytes.
   *
   * @throws IllegalArgumentException if what is stored is none
   */
  public static @Nullable RowSchema stored(Statistics statistics) {
    String json = statistics.valueSchema();
    return json == null ? null : parse(json);
  }

  /** The record. */
  public Schema avro() {
    return avro;
  }

  /** The schema as it is stored: JSON without line ends. */
  public String json() {
    return avro.toString();
  }

  /** The names of the columns, in their order. */
  public List<String> columns() {
    List<String> names = new ArrayList<>();
    avro.getFields().forEach(field -> names.add(column(field)));
    return List.copyOf(names);
  }

  /** The name of the column that a field, also of a nested record, stands for. */
  public static String column(Schema.Field field) {
    String own = field.getProp(COLUMN);
    return own == null ? field.name() : own;
  }

  /**
   * The most bytes of a decimal that is still taken for one: more than any of its precision needs,
   * since some writers are not exact about that.
   */
  public static int mostDecimalBytes(int precision) {
    return (int) Math.min(Integer.MAX_VALUE, precision * 5L / 12 + SPARE);
  }

  @Override
  public String toString() {
    return json();
  }
}
