package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.rows.RowType.Kind;
import tech.bsdb.tools.rows.RowType.ListOf;
import tech.bsdb.tools.rows.RowType.MapOf;
import tech.bsdb.tools.rows.RowType.Pairs;
import tech.bsdb.tools.rows.RowType.Scalar;
import tech.bsdb.tools.rows.RowType.Struct;

class RowDecoderTest {
  private static final RowType STRING = Scalar.of(Kind.STRING);

  /** Shows each value as text, with the kind where it matters. */
  private static final RowObjects SHOWN =
      new RowObjects() {
        @Override
        public Object decimal(BigDecimal value, int precision) {
          return value + " of " + precision;
        }

        @Override
        public Object text(byte[] bytes, int from, int length) {
          return new String(bytes, from, length, UTF_8);
        }

        @Override
        public Object bytes(byte[] bytes, int from, int length) {
          return Arrays.toString(Arrays.copyOfRange(bytes, from, from + length));
        }

        @Override
        public Object date(int days) {
          return "day " + days;
        }

        @Override
        public Object time(long units, int digits) {
          return "time " + units + "/" + digits;
        }

        @Override
        public Object timestamp(long units, int digits) {
          return "at " + units + "/" + digits;
        }

        @Override
        public Object struct(@Nullable Object[] fields) {
          return "struct" + Arrays.toString(fields);
        }

        @Override
        public Object list(@Nullable Object[] elements) {
          return "list" + Arrays.toString(elements);
        }

        @Override
        public Object map(@Nullable Object[] keys, @Nullable Object[] values) {
          return "map" + Arrays.toString(keys) + Arrays.toString(values);
        }
      };

  private static List<@Nullable Object> decoded(RowForm form, RowBuffer row)
      throws BadRowException {
    return Arrays.asList(new RowDecoder(form, SHOWN).decode(row.bytes(), 0, row.length()));
  }

  private static Column column(String name, RowType type) {
    return new Column(name, type, true);
  }

  private static final List<Column> COLUMNS =
      List.of(
          column("number", Scalar.of(Kind.INT)),
          column("a name", STRING),
          column("amount", Scalar.decimal(20, 2)),
          column("when", Scalar.time(Kind.TIMESTAMP, 9)),
          column("id", Scalar.of(Kind.UUID)),
          column("span", Scalar.of(Kind.INTERVAL)),
          column("list", new ListOf(column("element", STRING))),
          column("map", new MapOf(column("value", Scalar.of(Kind.DATE)))),
          column(
              "pairs",
              new Pairs(
                  new Column("key", Scalar.of(Kind.LONG), false),
                  column("value", Scalar.time(Kind.TIME, 9)))),
          column("struct", new Struct(List.of(column("x", Scalar.of(Kind.BOOLEAN))))));

  private static void putText(RowBuffer out, String text) {
    out.putBytes(ByteBuffer.wrap(text.getBytes(UTF_8)));
  }

  private static RowBuffer row() {
    RowBuffer out = new RowBuffer();
    out.putLong(1);
    out.putLong(-7);
    out.putLong(1);
    putText(out, "nämé");
    out.putLong(1);
    out.putBytes(new byte[] {1, 0}, 0, 2);
    out.putLong(1);
    out.putLong(-1);
    out.putLong(1);
    out.putBigEndian(1, 16);
    out.putLong(1);
    out.putFourBytes(1);
    out.putFourBytes(2);
    out.putFourBytes(3004);
    out.putLong(1);
    out.putLong(2); // a list of two
    out.putLong(0);
    out.putLong(1);
    putText(out, "x");
    out.putLong(0);
    out.putLong(1);
    out.putLong(1); // a map of one
    putText(out, "k");
    out.putLong(1);
    out.putLong(5);
    out.putLong(0);
    out.putLong(1);
    out.putLong(1); // an entry
    out.putLong(9);
    out.putLong(1);
    out.putLong(3);
    out.putLong(0);
    out.putLong(1);
    out.putLong(1);
    out.put(1);
    return out;
  }

  @Test
  void everyKindIsDecoded() throws BadRowException {
    RowSchema schema = AvroSchemas.of(COLUMNS);
    assertThat(decoded(RowForm.of(schema), row()))
        .containsExactly(
            -7,
            "nämé",
            "2.56 of 20",
            "at -1/9",
            "00000000-0000-0000-0000-000000000001",
            "P1M2DT3.004S",
            "list[null, x]",
            "map[k][day 5]",
            "map[9][time 3/9]",
            "struct[true]");
  }

  @Test
  void typesAreThoseThatTheSchemaWasMadeOf() {
    assertThat(AvroSchemas.of(COLUMNS).types()).isEqualTo(COLUMNS);
  }

  @Test
  void columnsThatAreNotWantedAreSkipped() throws BadRowException {
    RowForm form = RowForm.of(AvroSchemas.of(COLUMNS)).withColumns(List.of("pairs", "a name"));
    assertThat(decoded(form, row())).containsExactly("nämé", "map[9][time 3/9]");
  }

  @Test
  void unionsOfSeveralTypesAreStructs() throws BadRowException {
    RowSchema schema =
        RowSchema.parse(
            """
            {"type":"record","name":"r","fields":[{"name":"u","type":["int","null","string"]},
            {"name":"e","type":{"type":"enum","name":"e","symbols":["A","B"]}}]}""");
    RowBuffer row = new RowBuffer();
    row.putLong(2);
    putText(row, "x");
    row.putLong(1);
    assertThat(decoded(RowForm.of(schema), row)).containsExactly("struct[null, x]", "B");
    assertThat(schema.types())
        .containsExactly(
            column(
                "u",
                new Struct(
                    List.of(column("member0", Scalar.of(Kind.INT)), column("member1", STRING)))),
            new Column("e", STRING, false));
  }

  @Test
  void recordsThatContainThemselvesHaveNoTypes() {
    RowSchema schema =
        RowSchema.parse(
            """
            {"type":"record","name":"node","fields":[{"name":"next","type":["null","node"]}]}""");
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(schema::types)
        .withMessageContaining("node contains itself");
  }

  @Test
  void anyBytesAreARowOrABadOne() {
    RowForm form = RowForm.of(AvroSchemas.of(COLUMNS));
    byte[] whole = row().copy();
    Random random = new Random(1);
    for (int i = 0; i < 20_000; i++) {
      byte[] damaged = Arrays.copyOf(whole, random.nextInt(whole.length + 4));
      if (damaged.length > 0) {
        damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
      }
      try {
        assertThat(new RowDecoder(form, SHOWN).decode(damaged, 0, damaged.length)).isNotNull();
      } catch (BadRowException expected) {
        assertThat(expected.getMessage()).isNotEmpty();
      }
    }
  }
}
