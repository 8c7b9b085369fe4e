package tech.bsdb.tools.rows;

import java.util.List;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Statistics;

/**
 * The schema of a database's rows: an Avro record whose fields carry their column names. Immutable
 * and thread-safe.
 */
public final class RowSchema {
  /** The field property that holds a column name that Avro does not allow. */
  public static final String COLUMN = "column";

  /** How many bytes longer than its precision needs a decimal may be. */
  private static final int SPARE = 64;

  private final Schema avro;

  private RowSchema(Schema avro) {
    this.avro = avro;
  }

  /**
   * Wraps a schema.
   *
   * @throws IllegalArgumentException if it is not a record schema
   */
  public static RowSchema of(Schema avro) {
    if (avro.getType() != Schema.Type.RECORD) {
      throw new IllegalArgumentException(
          "the schema of rows must be a record, not " + avro.getType().getName());
    }
    return new RowSchema(avro);
  }

  /**
   * Reads a schema.
   *
   * @param json as Avro writes it
   * @throws IllegalArgumentException if it is not a record schema; the message says why
   */
  public static RowSchema parse(String json) {
    try {
      return of(new Schema.Parser().parse(json));
    } catch (SchemaParseException e) {
      throw new IllegalArgumentException("not an Avro schema: " + reason(e), e);
    } catch (AvroRuntimeException
        | UnsupportedOperationException e) { // for a fixed type that is too long
      throw new IllegalArgumentException("not a valid Avro schema: " + reason(e), e);
    }
  }

  /** Returns the first line only: Jackson's own location follows it. */
  private static String reason(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    return message.lines().findFirst().orElse("").replaceFirst("^com\\.fasterxml\\S+: ", "");
  }

  /**
   * Returns the schema stored in a database, or null if its values are raw bytes.
   *
   * @throws IllegalArgumentException if the stored schema is invalid
   */
  public static @Nullable RowSchema stored(Statistics statistics) {
    String json = statistics.valueSchema();
    return json == null ? null : parse(json);
  }

  /** Returns the record schema. */
  public Schema avro() {
    return avro;
  }

  /** Returns the schema as stored: JSON without line breaks. */
  public String json() {
    return avro.toString();
  }

  /** Returns the names of the columns, in order. */
  public List<String> columns() {
    return avro.getFields().stream().map(RowSchema::column).toList();
  }

  /**
   * Returns the columns with their types, as far as there are types of rows for them: symbols, and
   * decimals that carry their own scale, are strings, and a union of several types is a struct of
   * nullable fields {@code member0}, {@code member1} and so on, of which one is set.
   *
   * @throws IllegalArgumentException if a record contains itself
   */
  public List<RowType.Column> types() {
    return AvroSchemas.columns(avro);
  }

  /** Returns the column name of a field, which may be in a nested record. */
  public static String column(Schema.Field field) {
    String own = field.getProp(COLUMN);
    return own == null ? field.name() : own;
  }

  /**
   * Returns the maximum length of a decimal in bytes: more than its precision needs, since some
   * writers are not exact about that.
   */
  public static int maxDecimalBytes(int precision) {
    return (int) Math.min(Integer.MAX_VALUE, precision * 5L / 12 + SPARE);
  }

  @Override
  public String toString() {
    return json();
  }
}
