package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.text.JsonBuffer;

class RecordFormTest {
  private static final byte[] BINARY = {0, (byte) 0xff};
  private static final RecordForm PLAIN = new RecordForm(Encoding.UTF8, Encoding.UTF8, false);
  private static final RecordForm ENCODED = new RecordForm(Encoding.HEX, Encoding.BASE64, false);

  @Test
  void bytesComeOutAsTheyAreOrEncoded() throws Exception {
    assertThat(PLAIN.keyBytes(BINARY)).isSameAs(BINARY);
    assertThat(PLAIN.valueBytes(BINARY)).isSameAs(BINARY);
    assertThat(ENCODED.keyBytes(BINARY)).asString(UTF_8).isEqualTo("00ff");
    assertThat(ENCODED.valueBytes(BINARY)).asString(UTF_8).isEqualTo("AP8=");
  }

  @Test
  void keysAreReadInTheirEncoding() throws Exception {
    assertThat(PLAIN.keyOf("é")).isEqualTo("é".getBytes(UTF_8));
    assertThat(ENCODED.keyOf("00fF")).isEqualTo(BINARY);
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> ENCODED.keyOf("0g"))
        .withMessage("key \"0g\" is not hex");
  }

  @Test
  void jsonKeepsTextAsTextAndOtherBytesAsBase64() throws Exception {
    assertThat(json(PLAIN, "k\"é".getBytes(UTF_8), "v\n\u0001".getBytes(UTF_8)))
        .isEqualTo("{\"key\":\"k\\\"é\",\"value\":\"v\\n\\u0001\"}\n");
    assertThat(json(PLAIN, BINARY, BINARY))
        .isEqualTo("{\"key\":{\"base64\":\"AP8=\"},\"value\":{\"base64\":\"AP8=\"}}\n");
    assertThat(json(PLAIN, new byte[0], new byte[0])).isEqualTo("{\"key\":\"\",\"value\":\"\"}\n");
    assertThat(json(PLAIN, new byte[] {'k'}, null)).isEqualTo("{\"key\":\"k\",\"value\":null}\n");
  }

  @Test
  void jsonOfAnEncodingIsItsText() throws Exception {
    assertThat(json(ENCODED, BINARY, BINARY)).isEqualTo("{\"key\":\"00ff\",\"value\":\"AP8=\"}\n");
  }

  private static String json(RecordForm form, byte[] key, byte[] value) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    form.writeJson(new JsonBuffer(), out, key, value);
    return out.toString(UTF_8);
  }
}
