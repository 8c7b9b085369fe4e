package tech.bsdb.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EscapesTest {
  @Test
  void threeEscapesAreSupported() throws Exception {
    assertThat(Escapes.resolve("-s", "\\t")).isEqualTo("\t");
    assertThat(Escapes.resolve("-s", "\\x01")).isEqualTo("\u0001");
    assertThat(Escapes.resolve("-s", "\\x7C\\xe9")).isEqualTo("|é");
    assertThat(Escapes.resolve("-s", "\\\\")).isEqualTo("\\");
    assertThat(Escapes.resolve("-s", "\\\\t")).isEqualTo("\\t");
    assertThat(Escapes.resolve("-s", "a\\tb\\\\\\t")).isEqualTo("a\tb\\\t");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "|", "\t", "$", ".*", "x41"})
  void textWithoutBackslashIsLiteral(String typed) throws Exception {
    assertThat(Escapes.resolve("-s", typed)).isEqualTo(typed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\\", "\\|", "\\n", "\\x", "\\x1", "\\xzz", "\\x4g", "a\\", "\\\\\\", "\\\n"})
  void anyOtherBackslashIsAnErrorThatNamesTheOption(String typed) {
    assertThatThrownBy(() -> Escapes.resolve("-s", typed))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("-s takes \\t for a tab, \\xHH ")
        .hasMessageContaining("not \"" + typed + "\"");
  }
}
