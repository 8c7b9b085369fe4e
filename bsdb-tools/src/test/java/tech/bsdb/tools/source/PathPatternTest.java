package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Patterns match the paths that a shell with ** would match. */
class PathPatternTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "*.csv       | a.csv       | true",
        "*.csv       | x/y/a.csv   | true",
        "*.csv       | a.csv/b     | false",
        "/*.csv      | a.csv       | true",
        "/*.csv      | x/a.csv     | false",
        "x/*.csv     | x/a.csv     | true",
        "x/*.csv     | x/y/a.csv   | false",
        "x/*.csv     | y/x/a.csv   | false",
        "**/a.csv    | a.csv       | true",
        "**/a.csv    | x/y/a.csv   | true",
        "**/a.csv    | x/ba.csv    | false",
        "x/**/a      | x/a         | true",
        "x/**/a      | x/y/z/a     | true",
        "x/**        | x/y/z       | true",
        "x/**        | y/z         | false",
        "?.txt       | é.txt       | true",
        "?.txt       | ab.txt      | false",
        "[a-c].txt   | b.txt       | true",
        "[!a-c].txt  | b.txt       | false",
        "x/[!a]b     | x//b        | false",
        "{a,b*}.gz   | bcd.gz      | true",
        "{a,b*}.gz   | cd.gz       | false",
        "a,b}        | a,b}        | true",
        "\\*         | *           | true",
        "\\*         | a           | false",
        "a.b         | axb         | false",
      })
  void matchesPaths(String pattern, String path, boolean matches) {
    assertThat(PathPattern.of(pattern).matches(path, false)).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource({"x/, true, true", "x/, false, false", "x, true, true", "x, false, true"})
  void aSlashAtTheEndAsksForADirectory(String pattern, boolean directory, boolean matches) {
    assertThat(PathPattern.of(pattern).matches("a/x", directory)).isEqualTo(matches);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "\"\"      | the pattern is empty",
        "/       | the pattern is empty",
        "{a      | a { has no }",
        "{a{b}}  | a { inside another",
        "[a      | a [ has no ]",
        "a\\     | nothing follows the last \\",
      })
  void whatIsNoPatternIsSaid(String pattern, String message) {
    assertThatThrownBy(() -> PathPattern.of(pattern))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }
}
