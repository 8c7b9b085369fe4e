package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.VariantLogicalTypeAnnotation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.CommandRun;

/** Each logical type is read, or passed on as bytes, or refused: none without a decision. */
class LogicalTypesTest {
  private static final String VARIANT =
      "group v (VARIANT(1)) { required binary metadata; optional binary value; }";

  @TempDir Path folder;

  @Test
  void eachTypeOfTheLibraryButVariantIsRead() {
    List<Class<?>> types = new ArrayList<>();
    for (Class<?> type : LogicalTypeAnnotation.class.getDeclaredClasses()) {
      if (LogicalTypeAnnotation.class.isAssignableFrom(type)) {
        types.add(type);
      }
    }
    assertThat(types).isNotEmpty();
    types.remove(VariantLogicalTypeAnnotation.class);
    assertThat(types).containsExactlyInAnyOrderElementsOf(ParquetTypes.READ);
  }

  private CommandRun build(String... options) {
    List<String> line =
        new ArrayList<>(
            List.of(
                "build-parquet",
                "-i",
                folder.resolve("a.parquet").toString(),
                "-o",
                folder.resolve("db").toString()));
    line.addAll(Arrays.asList(options));
    return bsdb(line.toArray(new String[0]));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "optional " + VARIANT,
        "optional group s { required " + VARIANT + " }",
        "optional group l (LIST) { repeated group list { optional " + VARIANT + " } }",
      })
  void aVariantIsRefused(String column) throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 k; " + column + " }",
        1,
        (row, i) -> row.add("k", 1));

    CommandRun run = build("-kf", "k");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err())
        .contains("a.parquet: column ", " contains, a VARIANT", "to_json", "--value-fields");
    assertThat(folder.resolve("db")).doesNotExist();
    assertThat(build("-kf", "k", "--value-fields", "k").code()).isZero();
  }

  @Test
  void aPartOfAVariantIsNoKey() throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 k; required " + VARIANT + " }",
        1,
        (row, i) -> {
          row.add("k", 1);
          row.addGroup("v").add("metadata", Binary.fromString("m"));
        });

    CommandRun run = build("-kf", "v.metadata", "--value-fields", "k");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains("column v.metadata cannot be a key", "VARIANT");
  }

  private static final String PLAIN =
      "group v { required binary metadata; optional binary value; }";

  /** A file of Spark 4.0, which says only in a schema of its own what is a VARIANT. */
  private void spark(String column, String type) throws Exception {
    String fields =
        """
        {"metadata":{},"name":"k","nullable":false,"type":"integer"},
        {"name":"variant","type":"string","nullable":true,"metadata":{"type":"variant"}},
        {"name":"plain","type":{"type":"struct","fields":[
          {"name":"metadata","type":"binary","nullable":true,"metadata":{}},
          {"name":"value","type":"binary","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},
        {"name":"c","type":%s,"nullable":true,"metadata":{"comment":"a \\"variant\\""}}
        """
            .formatted(type);
    Written.file(
        folder.resolve("a.parquet"),
        "message spark_schema { required int32 k; optional binary variant (STRING); optional "
            + PLAIN.replace(" v ", " plain ")
            + column
            + " }",
        1,
        (row, i) -> row.add("k", 1),
        writer ->
            writer.withExtraMetaData(
                Map.of(
                    "org.apache.spark.sql.parquet.row.metadata",
                    "{\"type\":\"struct\",\"fields\":[" + fields + "]}")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "optional group c { required binary value; required binary metadata; } | \"variant\"",
        "optional group c { required binary metadata; optional group typed_value { optional int32 a; }"
            + " } | \"variant\"",
        "optional group c { optional int32 i; optional group v { required binary value; required"
            + " binary metadata; } } | {\"type\":\"struct\",\"fields\":[{\"name\":\"i\",\"type\":"
            + "\"integer\",\"nullable\":true,\"metadata\":{}},{\"name\":\"v\",\"type\":\"variant\","
            + "\"nullable\":true,\"metadata\":{}}]}",
        "optional group c (LIST) { repeated group list { optional group element { required binary"
            + " value; required binary metadata; } } } | {\"type\":\"array\",\"elementType\":\"variant\","
            + "\"containsNull\":true}",
        "optional group c (MAP) { repeated group key_value { required binary key (STRING); optional"
            + " group value { required binary value; required binary metadata; } } } |"
            + " {\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"variant\","
            + "\"valueContainsNull\":true}",
      })
  void aVariantThatOnlySparksSchemaTellsIsRefused(String column, String type) throws Exception {
    spark(column, type);

    CommandRun run = build("-kf", "k");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains("a.parquet: column c is, or contains, a VARIANT", "to_json");
    assertThat(build("-kf", "k", "--value-fields", "k,variant,plain").code()).isZero();
    if (type.contains("struct")) {
      assertThat(build("-kf", "c.v.value", "--value-fields", "k", "--overwrite").err())
          .contains("VARIANT");
      assertThat(build("-kf", "c.i", "--value-fields", "k", "--overwrite").err())
          .contains("null key");
    }
  }

  @Test
  void aStructOfTheSameFieldsIsNoVariant() throws Exception {
    spark("optional group c { required binary value; required binary metadata; }", "\"binary\"");
    CommandRun run = build("-kf", "k");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).doesNotContain("logical type");
  }

  @Test
  void aColumnOfAnUnknownTypeIsNoted() throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 k; optional group s { optional int32 a; optional"
            + " fixed_len_byte_array(16) b (UUID); } optional int32 c; }",
        1,
        (row, i) ->
            row.append("k", 1).addGroup("s").append("b", Binary.fromString("0123456789abcdef")));
    byte[] file = Files.readAllBytes(folder.resolve("a.parquet"));
    byte[] uuid = {(byte) 0xec, 0, 0}; // field 14 of the union, an empty struct, and its end
    int at = new String(file, ISO_8859_1).lastIndexOf(new String(uuid, ISO_8859_1));
    assertThat(at).isPositive();
    file[at] = (byte) 0x9c; // field 9, which is reserved
    Files.write(folder.resolve("a.parquet"), file);

    CommandRun run = build("-kf", "k");
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err())
        .contains("a.parquet: column s has, or contains, a logical type that this version");
    assertThat(bsdb("scan", "-d", folder.resolve("db").toString(), "--json").out())
        .contains("\"s\":{\"a\":null,\"b\":\"MDEyMzQ1Njc4OWFiY2RlZg==\"}");
    CommandRun without = build("-kf", "k", "--value-fields", "k,c", "--overwrite");
    assertThat(without.code()).as(without.toString()).isZero();
    assertThat(without.err()).doesNotContain("logical type");
  }
}
