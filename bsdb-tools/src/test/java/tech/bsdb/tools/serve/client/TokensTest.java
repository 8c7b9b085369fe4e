package tech.bsdb.tools.serve.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.serve.client.Scope.Permission;

/** Lines of a file of tokens, and what they grant. */
class TokensTest {
  @TempDir Path folder;

  private Tokens read(String content) throws IOException {
    return Tokens.read(Files.writeString(folder.resolve("tokens"), content));
  }

  private static Scope granted(Tokens tokens, String token) {
    return requireNonNull(tokens.of(token), token);
  }

  /** Whatever was a token before there were settings still is one, and may do everything. */
  @Test
  void aTokenAloneMayDoEverything() throws IOException {
    List<String> all =
        List.of("plain", "#x", "#-", "-", "cert=x", "name=x", "sets=a,b", "allow=", "a=b=c", "\"");
    Tokens tokens = read("\n  plain \r\n\n" + String.join("\n", all) + "\n");
    for (String each : all) {
      assertThat(tokens.of(each)).as(each).isEqualTo(Scope.ALL);
    }
    assertThat(tokens.of("other")).isNull();
    assertThat(tokens.of("")).isNull();
    assertThat(tokens.limitSets()).isFalse();
    assertThat(tokens.toString()).doesNotContain("plain");
  }

  @Test
  void settingsLimitATokenAndNameIt() throws IOException {
    Tokens tokens =
        read(
            """
            reports-token   name=reports\tsets=users,items-*  allow=get,scan
            monitor sets=none allow=metrics
            named name=ann@example.com
            limited sets=users
            scanner allow=scan
            anywhere sets=*,users
            """);
    Scope reports = granted(tokens, "reports-token");
    assertThat(reports.name()).isEqualTo("reports");
    assertThat(reports.permissions()).containsExactly(Permission.GET, Permission.SCAN);
    for (String reached : List.of("users", "items-", "items-eu")) {
      assertThat(reports.reaches(reached)).as(reached).isTrue();
      assertThat(reports.in(reached)).isEqualTo(reports.permissions());
    }
    for (String other : List.of("", "user", "users2", "Users", "items", "xitems-", "*")) {
      assertThat(reports.reaches(other)).as(other).isFalse();
      assertThat(reports.in(other)).isEmpty();
    }
    assertThat(granted(tokens, "monitor").in("users")).containsExactly(Permission.METRICS);
    assertThat(granted(tokens, "named"))
        .isEqualTo(new Scope("ann@example.com", List.of("*"), Scope.ALL.permissions()));
    assertThat(granted(tokens, "limited").permissions())
        .as("the figures name all data sets")
        .containsExactly(Permission.GET, Permission.SCAN, Permission.KEYS);
    assertThat(granted(tokens, "scanner").in("")).isEqualTo(Set.of(Permission.SCAN));
    assertThat(granted(tokens, "anywhere").permissions()).contains(Permission.METRICS);
    assertThat(tokens.limitSets()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "secret other,           word 2 is none of the settings",
        "secret # a comment,     word 2 is none of the settings",
        "secret set=users,       word 2 is none of the settings",
        "secret name=a other=b,  word 3 is none of the settings",
        "secret name=a name=b,   name= is given twice",
        "secret name=a/b,        name= takes",
        "secret sets=,           \"sets= takes names of data sets separated by commas\"",
        "\"secret sets=a,,b\",   sets= takes",
        "secret sets=*a,         sets= takes",
        "secret sets=a**,        sets= takes",
        "secret sets=a/b,        sets= takes",
        "secret allow=,          \"allow= takes words separated by commas: get, scan, keys, met\"",
        "secret allow=GET,       allow= takes",
        "\"secret allow=get,\",  allow= takes",
        "secret allow=get name,  word 3 is none of the settings",
        "- name=x,               - stands for no token",
        "cert=secret sets=users, begins with a setting or #",
        "name=secret cert=x,     begins with a setting or #",
        "#- cert=secret,         begins with a setting or #",
        "#secret name=x,         begins with a setting or #",
        "- cert=,                cert= takes a name",
        "- cert=known,           which no line above has",
        "second sets=a,          a line above has the same token",
        "se\u00a0cret,           visible ASCII",
      })
  void malformedLinesAreNamedAndTheirWordsAreKept(String line, String why) {
    assertThatThrownBy(() -> read("first cert=known\nsecond\n" + line + "\n"))
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("tokens: line 3: ")
        .hasMessageContaining(why)
        .message()
        .doesNotContain("secret", "comment", "=a");
  }
}
