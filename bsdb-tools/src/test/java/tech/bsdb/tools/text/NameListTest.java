package tech.bsdb.tools.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names separated by commas, and with commas in them. */
class NameListTest {
  @Test
  void aBackslashMakesACommaPartOfAName() {
    assertThat(NameList.parse("a")).containsExactly("a");
    assertThat(NameList.parse("a,b.c,\u00e9 ")).containsExactly("a", "b.c", "\u00e9 ");
    assertThat(NameList.parse("a\\,b,c")).containsExactly("a,b", "c");
    assertThat(NameList.parse("\\\\,\\,")).containsExactly("\\", ",");
    assertThat(NameList.one("a,b\\,c\\\\")).isEqualTo("a,b,c\\");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",", "a,", ",a", "a,,b"})
  void aNameIsNotEmpty(String text) {
    assertThatThrownBy(() -> NameList.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("has an empty name");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\", "a\\b", "a,b\\", "\\n"})
  void aBackslashBeforeAnythingElseIsAnError(String text) {
    assertThatThrownBy(() -> NameList.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("has a backslash before neither a comma nor a backslash");
    assertThatThrownBy(() -> NameList.one(text)).isInstanceOf(IllegalArgumentException.class);
  }
}
