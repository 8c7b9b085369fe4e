package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class UnicodeNamesCommandTest {
  @Test
  void everyCharacterHasALineOfItsOwn() {
    List<String> lines = bsdb("unicode-names").out().lines().collect(Collectors.toList());

    assertThat(lines)
        .hasSizeBetween(140_000, 200_000)
        .doesNotHaveDuplicates()
        .contains("U+0041 LATIN CAPITAL LETTER A", "U+1F600 GRINNING FACE")
        .allMatch(line -> line.matches("U\\+[0-9A-F]{4,6} [^ ].*"))
        .noneMatch(
            line ->
                line.startsWith("U+D800 ")
                    || line.startsWith("U+E000 ")
                    || line.startsWith("U+0378 "));
  }
}
