package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.apache.avro.Schema;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

/** Every schema is one that Avro's own parser takes, and columns keep their names. */
class AvroSchemasTest {
  private static Column column(String name, RowType type) {
    return new Column(name, type, true);
  }

  private static Column number(String name) {
    return column(name, Scalar.of(Kind.INT));
  }

  @Test
  void everyTypeIsReadAgainByAvro() {
    List<Column> columns = new ArrayList<>();
    for (Scalar type : everyScalar()) {
      columns.add(new Column("r" + type.describe(), type, false));
      columns.add(new Column("o" + type.describe(), type, true));
      columns.add(column("l" + type.describe(), new ListOf(column("element", type))));
      columns.add(column("m" + type.describe(), new MapOf(column("value", type))));
      columns.add(
          column(
              "p" + type.describe(), new Pairs(new Column("key", type, false), number("value"))));
      columns.add(
          column("s" + type.describe(), new Struct(List.of(column("x", type), number("y")))));
    }
    RowSchema schema = AvroSchemas.of(columns);

    assertThat(RowSchema.parse(schema.json()).json()).isEqualTo(schema.json());
    assertThat(schema.json())
        .doesNotContain("\n")
        .contains("{\"type\":\"int\",\"logicalType\":\"time-millis\"}")
        .contains("{\"type\":\"long\",\"logicalType\":\"time-nanos\"}")
        .contains("{\"type\":\"long\",\"logicalType\":\"local-timestamp-micros\"}");
    assertThat(schema.columns()).isEqualTo(columns.stream().map(Column::name).toList());
  }

  private static List<Scalar> everyScalar() {
    List<Scalar> types = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      switch (kind) {
        case DECIMAL -> types.add(Scalar.decimal(38, 10));
        case FIXED -> types.add(Scalar.fixed(7));
        case TIME, TIMESTAMP, LOCAL_TIMESTAMP -> {
          for (int digits : new int[] {3, 6, 9}) {
            types.add(Scalar.time(kind, digits));
          }
        }
        default -> types.add(Scalar.of(kind));
      }
    }
    return types;
  }

  @Test
  void namesThatAvroForbidsAreKeptBesideOnesThatItAllows() {
    List<String> names =
        List.of(
            "a b", "a_b", "a-b", "1", "_1", "", "größe", "日本", "a.b", "\"quoted\"", "a\nb", "x");
    RowSchema schema =
        RowSchema.parse(
            AvroSchemas.of(names.stream().map(AvroSchemasTest::number).toList()).json());

    assertThat(schema.columns()).isEqualTo(names);
    List<String> fields = schema.avro().getFields().stream().map(Schema.Field::name).toList();
    assertThat(new HashSet<>(fields)).hasSameSizeAs(names);
    assertThat(fields).contains("a_b", "_1", "x");
    assertThat(schema.avro().getField("a_b").getProp(RowSchema.COLUMN)).isNull();
    assertThat(schema.json()).doesNotContain("\n");
  }

  @Test
  void recordsOfTheSameNameInSeveralPlacesHaveNamesOfTheirOwn() {
    Struct inner = new Struct(List.of(column("s", new Struct(List.of(number("x"))))));
    RowSchema schema =
        AvroSchemas.of(
            List.of(
                column("s", inner),
                column("s_s", new Struct(List.of(number("z")))),
                column("s s", new Struct(List.of(number("y"))))));

    assertThat(RowSchema.parse(schema.json()).json()).isEqualTo(schema.json());
  }
}
