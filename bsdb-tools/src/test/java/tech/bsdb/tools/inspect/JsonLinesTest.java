package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.FileSystemException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tech.bsdb.Reports;
import tech.bsdb.Statistics;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.inspect.RecordJson.JsonLines;
import tech.bsdb.tools.rows.AvroRows;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

class JsonLinesTest {
  private static final byte[] BINARY = {0, (byte) 0xff};
  private static final RecordForm PLAIN = new RecordForm(Encoding.UTF8, Encoding.UTF8, true);
  private static final RecordForm ENCODED = new RecordForm(Encoding.HEX, Encoding.BASE64, true);
  private static final Statistics EXACT = Reports.statistics("blocked", 0, 0);

  @Test
  void textStaysTextAndOtherBytesAreBase64() throws Exception {
    assertThat(json(PLAIN, "k\"é".getBytes(UTF_8), "v\n\u0001".getBytes(UTF_8)))
        .isEqualTo("{\"key\":\"k\\\"é\",\"value\":\"v\\n\\u0001\"}\n");
    assertThat(json(PLAIN, BINARY, BINARY))
        .isEqualTo("{\"key\":{\"base64\":\"AP8=\"},\"value\":{\"base64\":\"AP8=\"}}\n");
    assertThat(json(PLAIN, new byte[0], new byte[0])).isEqualTo("{\"key\":\"\",\"value\":\"\"}\n");
    assertThat(json(PLAIN, new byte[] {'k'}, null)).isEqualTo("{\"key\":\"k\",\"value\":null}\n");
  }

  @Test
  void whatIsEncodedIsItsText() throws Exception {
    assertThat(json(ENCODED, BINARY, BINARY)).isEqualTo("{\"key\":\"00ff\",\"value\":\"AP8=\"}\n");
  }

  @Test
  void rowsAreObjectsAndWhatIsNoneNamesItsKey() throws Exception {
    RowSchema schema = AvroRows.schemaOf("\"int\"");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonLines lines = new JsonLines(out, PLAIN, EXACT, RowForm.of(schema));
    lines.write(new byte[] {'k'}, AvroRows.row(schema, 7));
    assertThatExceptionOfType(FileSystemException.class)
        .isThrownBy(() -> lines.write(new byte[] {'b'}, BINARY))
        .withMessage(
            "rdb: the value of \"b\" is not a row of the stored schema: 1 bytes follow its"
                + " last column");
    lines.write(new byte[] {'a'}, null);
    assertThat(out.toString(UTF_8))
        .isEqualTo("{\"key\":\"k\",\"value\":{\"v\":7}}\n{\"key\":\"a\",\"value\":null}\n");
  }

  private static String json(RecordForm form, byte[] key, byte @Nullable [] value)
      throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new JsonLines(out, form, EXACT, null).write(key, value);
    return out.toString(UTF_8);
  }
}
