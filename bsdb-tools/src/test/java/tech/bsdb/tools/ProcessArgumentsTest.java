package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.CharacterCodingException;
import org.junit.jupiter.api.Test;

class ProcessArgumentsTest {
  @Test
  void argumentsThatJavaCouldDecodeAreLeftAlone() {
    assertThat(ProcessArguments.asTyped(new String[] {"get", "k", ""}))
        .containsExactly("get", "k", "");
  }

  @Test
  void theCommandLineEndsEachWordWithNul() throws Exception {
    byte[] line = "java\0-jar\0x.jar\0get\0日本\0\0".getBytes(UTF_8);

    assertThat(ProcessArguments.split(line))
        .containsExactly("java", "-jar", "x.jar", "get", "日本", "");
  }

  @Test
  void bytesThatAreNoTextAreNotGuessed() {
    assertThatExceptionOfType(CharacterCodingException.class)
        .isThrownBy(() -> ProcessArguments.split(new byte[] {(byte) 0xff, 0}));
  }
}
