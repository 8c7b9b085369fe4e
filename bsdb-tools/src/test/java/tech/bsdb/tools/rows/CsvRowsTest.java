package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

/** Fields of CSV as rows. */
@ExtendWith(SeedInFailure.class)
final class CsvRowsTest {
  private static final long SEED = SeedInFailure.SEED;

  @Test
  void anEmptyFieldIsNullWhereItMayBe() throws IOException {
    RowSchema schema =
        Rows.record(
            "{'name':'a','type':['string','null']},{'name':'b','type':'string'},"
                + "{'name':'c','type':'bytes'},{'name':'d','type':'null'},"
                + "{'name':'e','type':['null','int'],'default':null}");
    assertThat(Rows.read(schema, Rows.fromCsv(schema, "", "", "", "", "")))
        .hasToString("{\"a\": null, \"b\": \"\", \"c\": \"\", \"d\": null, \"e\": null}");
    assertThatThrownBy(() -> Rows.fromCsv(schema, "", "", "", "x"))
        .hasMessage("column \"d\": \"x\" is not null");
    assertThatThrownBy(() -> Rows.fromCsv(Rows.ofType("'int'"), ""))
        .hasMessage("column \"x\": \"\" is not an int");
  }

  @Test
  void aUnionsFirstBranchThatTakesTheTextHasIt() throws IOException {
    RowSchema schema = Rows.ofType("['null','int','double','string']");
    assertThat(Rows.fromCsv(schema, "5")).startsWith(2);
    assertThat(Rows.fromCsv(schema, "5.5")).startsWith(4);
    assertThat(Rows.fromCsv(schema, "x")).startsWith(6);
    assertThat(Rows.fromCsv(schema, "")).containsExactly(0);
    assertThatThrownBy(() -> Rows.fromCsv(Rows.ofType("['null','int','double']"), "x"))
        .hasMessage("column \"x\": \"x\" is not an int, nor a double");
  }

  @Test
  void nestedTypesAreRefusedByTheirColumn() {
    assertThatThrownBy(() -> new CsvRows(Rows.ofType("{'type':'array','items':'int'}")))
        .hasMessage(
            "column \"x\" is of the type array, which a CSV field cannot hold; JSON lines can");
    assertThatThrownBy(() -> new CsvRows(Rows.ofType("['null',{'type':'map','values':'int'}]")))
        .hasMessage(
            "column \"x\" is of the type map, which a CSV field cannot hold; JSON lines can");
    assertThatThrownBy(
            () -> new CsvRows(RowSchema.parse("{\"type\":\"error\",\"name\":\"E\",\"fields\":[]}")))
        .hasMessage("E is an error type, which no row can have");
  }

  @Test
  void randomRowsReadBackAsTheyWere() throws IOException {
    Random random = new Random(SEED);
    for (int round = 0; round < 300; round++) {
      RandomTexts model = new RandomTexts(random);
      StringBuilder fields = new StringBuilder();
      for (int i = 0; i <= random.nextInt(6); i++) {
        String type = model.scalar();
        fields.append(i == 0 ? "" : ",").append("{'name':'f").append(i).append("','type':");
        fields.append(random.nextBoolean() ? type : "['null'," + type + "]").append('}');
      }
      RowSchema schema = Rows.record(fields.toString());
      GenericRecord row = model.row(schema.avro());
      List<String> texts = new ArrayList<>();
      for (Schema.Field field : schema.avro().getFields()) {
        Object value = row.get(field.pos());
        boolean union = field.schema().getType() == Schema.Type.UNION;
        Schema type = union ? field.schema().getTypes().get(1) : field.schema();
        String text = value == null ? "" : RandomTexts.scalarText(type, value);
        texts.add(text);
        if (union && text.isEmpty()) {
          row.put(field.pos(), null);
        }
      }
      byte[] bytes = Rows.fromCsv(schema, texts.toArray(new String[0]));
      assertThat(bytes)
          .as("seed %d: %s of %s", SEED, texts, schema)
          .isEqualTo(Rows.write(schema.avro(), row));
      assertThat(Rows.read(schema, bytes)).as("seed %d", SEED).isEqualTo(row);
    }
  }
}
