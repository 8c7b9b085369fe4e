package tech.bsdb.tools.inspect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;

class RecordFormTest {
  private static final byte[] BINARY = {0, (byte) 0xff};
  private static final RecordForm PLAIN = new RecordForm(Encoding.UTF8, Encoding.UTF8, false);
  private static final RecordForm ENCODED = new RecordForm(Encoding.HEX, Encoding.BASE64, false);

  @Test
  void bytesAreWrittenUnchangedOrEncoded() throws Exception {
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
}
