package tech.bsdb.tools.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.rows.RowType.Column;
import tech.bsdb.tools.table.TypeMerge;

/** Which files go together, and what they resolve to. */
class TypeMergeTest {
  private static List<Column> columns(String fields) {
    return ParquetTypes.DEFAULT
        .struct(MessageTypeParser.parseMessageType("message m { " + fields + " }"))
        .fields();
  }

  private static List<Column> merged(String... files) throws InputException {
    return merged(false, files);
  }

  private static List<Column> merged(boolean widen, String... files) throws InputException {
    TypeMerge merge = new TypeMerge(widen);
    for (int i = 0; i < files.length; i++) {
      merge.add("file" + i, columns(files[i]));
    }
    return merge.columns();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required int32 a; | required int64 a; | required int64 a;",
        "required int64 a; | required int32 a (INTEGER(8,true)); | required int64 a;",
        "required int32 a; | required int32 a (INTEGER(32,false)); | required int64 a;",
        "required float a; | optional double a; | optional double a;",
        "optional double a; | required float a; | optional double a;",
        "required binary a (STRING); | required binary a (ENUM); | required binary a (STRING);",
        "optional int32 a (UNKNOWN); | optional binary a (STRING); | optional binary a (STRING);",
        "required binary a; | optional int32 a (UNKNOWN); | optional binary a;",
        "required int32 b; required int32 a; | required int64 a; required int32 b; | required int32"
            + " b; required int64 a;",
        "required int32 a; | required int32 a; optional double n; | required int32 a; optional"
            + " double n;",
        "required int32 a; optional double n; | required int32 a; | required int32 a; optional"
            + " double n;",
        "optional group s { required int32 a; } | optional group s { required int64 a; optional"
            + " float n; } | optional group s { required int64 a; optional float n; }",
        "repeated int32 a; | repeated int64 a; | repeated int64 a;",
      })
  void filesThatGoTogether(String one, String other, String both) throws Exception {
    assertThat(merged(one, other)).isEqualTo(columns(both));
    assertThat(merged(one, other, one, other)).isEqualTo(columns(both));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required int32 V; | required int64 v; | required int64 V;",
        "optional group S { optional int32 F; } | optional group s { optional int32 f; } | optional"
            + " group S { optional int32 F; }",
        "required int32 V; optional int32 v; | optional int32 v; required int32 V; | required int32"
            + " V; optional int32 v;",
        "required int32 a; | required int32 a; optional int32 V; optional int32 v; | required int32"
            + " a; optional int32 V; optional int32 v;",
      })
  void namesMayDifferInCase(String one, String other, String both) throws Exception {
    assertThat(merged(one, other)).isEqualTo(columns(both));
    assertThat(merged(one, other, one, other)).isEqualTo(columns(both));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "optional int32 v; | optional int32 V; optional int32 v; | V and v | have v;",
        "optional int32 V; optional int32 v; | optional int32 v; | columns v, | have V and v;",
        "optional group s { optional int32 V; optional int32 v; } | optional group S { optional int32"
            + " V; } | columns s.V, | have s.V and s.v;",
      })
  void namesThatCannotBeToldApart(String one, String other, String theirs, String ours) {
    assertThatThrownBy(() -> merged(one, other))
        .isInstanceOf(InputException.class)
        .hasMessageContainingAll("file1: has columns", theirs, "(file0...)", ours);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required int32 a; | optional double a; | optional double a;",
        "required int32 a (INTEGER(16,false)); | required float a; | required double a;",
        "required int32 a (DECIMAL(5,2)); | required int64 a (DECIMAL(10,4)); | required int64 a"
            + " (DECIMAL(10,4));",
        "required int32 a (DECIMAL(5,0)); | required int64 a (DECIMAL(5,4)); | required int64 a"
            + " (DECIMAL(9,4));",
        "required int32 a; | required int32 a (DECIMAL(5,2)); | required int64 a (DECIMAL(12,2));",
        "required int64 a; | required int64 a (INTEGER(64,false)); | required int64 a"
            + " (INTEGER(64,false));",
        "required int64 a (TIMESTAMP(MILLIS,true)); | required int64 a (TIMESTAMP(MICROS,true)); |"
            + " required int64 a (TIMESTAMP(MICROS,true));",
        "required int96 a; | required int64 a (TIMESTAMP(MICROS,true)); | required int64 a"
            + " (TIMESTAMP(NANOS,true));",
        "required int64 a (TIMESTAMP(MILLIS,false)); | required int64 a (TIMESTAMP(NANOS,false)); |"
            + " required int64 a (TIMESTAMP(NANOS,false));",
        "required int32 a (TIME(MILLIS,true)); | required int64 a (TIME(MICROS,true)); | required"
            + " int64 a (TIME(MICROS,true));",
        "optional group s { optional int32 x; } | optional group s { optional double x; } | optional"
            + " group s { optional double x; }",
        "repeated int32 a; | repeated double a; | repeated double a;",
      })
  void typesThatMayBeWidened(String one, String other, String both) throws Exception {
    assertThat(merged(true, one, other)).isEqualTo(columns(both));
    assertThat(merged(true, other, one, other)).isEqualTo(columns(both));
    assertThatThrownBy(() -> merged(one, other))
        .hasMessageContaining("file1: column ")
        .hasMessageMatching(".*; --widen makes it (double|decimal|time|local).*");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required int64 a; | required double a; | double does not hold every long",
        "required int32 a (INTEGER(32,false)); | required float a; | double does not hold every long",
        "required int64 a (TIMESTAMP(MILLIS,true)); | required int64 a (TIMESTAMP(MILLIS,false)); |"
            + " only one of them has a time zone",
        "required int32 a (DATE); | required int64 a (TIMESTAMP(MILLIS,true)); | no type holds both",
        "required int32 a; | required binary a (STRING); | no type holds both",
        "required int32 a (DECIMAL(5,2)); | required double a; | no type holds both",
        "required int32 a (DECIMAL(5,1)); | required binary a (DECIMAL(36,36)); | decimals have at"
            + " most 38 digits, both together 40",
        "required int32 a; | optional group a { optional int32 a; } | no type holds both",
      })
  void typesThatMayNotBeWidened(String one, String other, String why) {
    for (boolean widen : new boolean[] {false, true}) {
      assertThatThrownBy(() -> merged(widen, one, other)).hasMessageEndingWith("; " + why);
      assertThatThrownBy(() -> merged(widen, other, one)).hasMessageEndingWith("; " + why);
    }
  }

  @Test
  void listsAreTheSameHoweverTheyAreWritten() throws Exception {
    String standard = "optional group l (LIST) { repeated group list { optional int32 element; } }";
    String old = "optional group l (LIST) { repeated int64 array; }";
    String standardOfLongs =
        "optional group l (LIST) { repeated group list { optional int64 element; } }";
    assertThat(merged(standard, old)).isEqualTo(columns(standardOfLongs));
    assertThat(merged(standard, "repeated int32 l;")).isEqualTo(columns(standard));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "required int32 a; | required float a; | a | float | int",
        "required int64 a; | required double a; | a | double | long",
        "required binary a; | required binary a (STRING); | a | string | bytes",
        "required int32 a (DATE); | required int32 a; | a | int | date",
        "required int64 a (TIMESTAMP(MICROS,true)); | required int64 a (TIMESTAMP(MILLIS,true)); | a"
            + " | timestamp-millis | timestamp-micros",
        "required int32 a (DECIMAL(5,2)); | required int32 a (DECIMAL(5,3)); | a | decimal(5,3) |"
            + " decimal(5,2)",
        "required fixed_len_byte_array(4) a; | required fixed_len_byte_array(5) a; | a | fixed(5) |"
            + " fixed(4)",
        "required group s { required int32 x; } | required int32 s; | s | int | struct",
        "required group s { required int32 x; } | required group s { required binary x; } | s.x |"
            + " bytes | int",
        "optional group l (LIST) { repeated group list { optional int32 element; } } | optional group"
            + " l (LIST) { repeated group list { optional binary element; } } | l[] | bytes | int",
        "optional group m (MAP) { repeated group key_value { required binary key (STRING); optional"
            + " int32 value; } } | optional group m (MAP) { repeated group key_value { required"
            + " binary key (STRING); optional float value; } } | m.value | float | int",
      })
  void filesThatDoNotNameTheFileTheColumnAndBothTypes(
      String one, String other, String column, String found, String known) {
    assertThatThrownBy(() -> merged(one, other))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("file1: column " + column + " is " + found)
        .hasMessageContaining("file0")
        .hasMessageContaining("it is " + known);
  }

  @Test
  void aColumnThatIsRequiredIsMissedInEitherFile() {
    String one = "required int32 a; required int32 b;";
    assertThatThrownBy(() -> merged(one, "required int32 a;"))
        .hasMessageContaining("file1: has no column b")
        .hasMessageContaining("--value-fields");
    assertThatThrownBy(() -> merged("required int32 a;", one))
        .hasMessageContaining("file1: requires a column b")
        .hasMessageContaining("--value-fields");
  }
}
