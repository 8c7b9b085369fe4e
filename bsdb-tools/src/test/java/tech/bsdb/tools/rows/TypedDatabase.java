package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;

/** Databases of typed rows, for tests. */
public final class TypedDatabase {
  /** Columns {@code id} (long), {@code unit.price} (decimal, optional) and {@code name}. */
  public static final RowSchema SCHEMA =
      AvroRows.schema(
          """
          {"name":"id","type":"long"},
          {"name":"unit_price","column":"unit.price","default":null,"type":["null",
            {"type":"bytes","logicalType":"decimal","precision":20,"scale":2}]},
          {"name":"name","type":"string"}""");

  private TypedDatabase() {}

  /** A database of the rows {@code apple}, {@code pear} and {@code plum} of {@link #SCHEMA}. */
  public static Path build(Path directory) throws IOException {
    return build(directory, SCHEMA.json(), fruit());
  }

  /** Those rows. */
  public static Map<String, byte[]> fruit() {
    Map<String, byte[]> rows = new TreeMap<>();
    rows.put("apple", AvroRows.row(SCHEMA, 1L, price(150), "Apple \"red\""));
    rows.put("pear", AvroRows.row(SCHEMA, 1L << 53, null, "Pear"));
    rows.put("plum", AvroRows.row(SCHEMA, -3L, price(-5), ""));
    return rows;
  }

  private static ByteBuffer price(long cents) {
    return ByteBuffer.wrap(BigInteger.valueOf(cents).toByteArray());
  }

  /** A database of some values, whatever they are, and a schema. */
  public static Path build(Path directory, String schema, Map<String, byte[]> values)
      throws IOException {
    return build(directory, BuildOptions.defaults().withValueSchema(schema), values);
  }

  /** A database of some values, whatever they are. */
  public static Path build(Path directory, BuildOptions options, Map<String, byte[]> values)
      throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory, options)) {
      for (Map.Entry<String, byte[]> value : values.entrySet()) {
        builder.add(value.getKey().getBytes(UTF_8), value.getValue());
      }
      builder.finish();
    }
    return directory;
  }
}
