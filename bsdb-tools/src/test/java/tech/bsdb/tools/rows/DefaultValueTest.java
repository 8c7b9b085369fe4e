package tech.bsdb.tools.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A default is in the row what the schema says, or is refused before anything is written. */
class DefaultValueTest {
  private static RowSchema schema(String type, String value) {
    return Rows.record(
        "{'name':'id','type':'long'},{'name':'a','type':" + type + ",'default':" + value + "}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "'string'; 'é'; \"é\"",
        "'bytes'; '\\u00FF\\u0000'; \"/wA=\"",
        "{'type':'fixed','name':'F','size':2}; 'ab'; \"YWI=\"",
        "{'type':'enum','name':'E','symbols':['A','B']}; 'B'; \"B\"",
        "'float'; 1.5; 1.5",
        "['null','string']; null; null",
        "['string','null']; 'x'; \"x\"",
        "{'type':'array','items':'int'}; [1,2]; [1,2]",
        "{'type':'map','values':'double'}; {'x':0.5}; {\"x\":0.5}",
        "{'type':'record','name':'S','fields':[{'name':'x','type':'int'}]}; {'x':3}; {\"x\":3}",
      })
  void whatIsOneIsInTheRow(String type, String value, String json) throws Exception {
    RowSchema schema = schema(type, value);
    assertThat(AvroRows.json(RowForm.of(schema), Rows.fromJson(schema, "{\"id\":1}")))
        .isEqualTo("{\"id\":1,\"a\":" + json + "}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "{'type':'enum','name':'E','symbols':['A']}; 'Z'",
        "'bytes'; '\\u0100'",
        "{'type':'fixed','name':'F','size':2}; 'a'",
        "{'type':'fixed','name':'F','size':2}; 'abc'",
        "'float'; 1e300",
        "'double'; 1e999",
        "'string'; '\\ud800'",
        "{'type':'array','items':'float'}; [1,1e300]",
        "{'type':'map','values':'bytes'}; {'x':'\\u0100'}",
        "{'type':'record','name':'S','fields':[{'name':'x','type':'float'}]}; {'x':1e300}",
      })
  void whatIsNoneIsRefusedWithTheField(String type, String value) {
    assertThatThrownBy(
            () -> Rows.fromJson(new JsonRows(schema(type, value), "id", false), "{\"id\":1}"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("field \"a\"");
  }
}
