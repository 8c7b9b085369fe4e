package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.awt.Color;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What must be true of the page's text, so that it works offline and under a strict policy. */
class StatisticsPageTest {

  private static final Pattern TAG =
      Pattern.compile("<([a-zA-Z][a-zA-Z0-9]*)((?:\\s+[^\\s=<>\"]+(?:=\"[^\"]*\")?)*)\\s*/?>");
  private static final Pattern ATTRIBUTE = Pattern.compile("\\s([^\\s=<>\"]+)(?:=\"([^\"]*)\")?");

  private final String page = read();

  /** A policy names the hash of the one script and of the one style, and allows no other. */
  @Test
  void hasOneScriptAndOneStyle() {
    assertThat(occurrences("<script")).isEqualTo(1);
    assertThat(occurrences("<script>")).isEqualTo(1);
    assertThat(occurrences("</script>")).isEqualTo(1);
    assertThat(occurrences("<style")).isEqualTo(1);
    assertThat(occurrences("<style>")).isEqualTo(1);
    assertThat(occurrences("</style>")).isEqualTo(1);
  }

  @Test
  void namesNothingOutsideThisServer() {
    assertThat(page).doesNotContain("//").doesNotContain("@import").doesNotContain("url(");
    assertThat(attributes("src")).isEmpty();
    assertThat(attributes("href"))
        .isNotEmpty()
        .allMatch(target -> target.matches("#?[a-z.]+") || target.startsWith("data:image/"));
  }

  @Test
  void insertsTextNeverMarkup() {
    assertThat(page)
        .doesNotContain("innerHTML")
        .doesNotContain("outerHTML")
        .doesNotContain("insertAdjacentHTML")
        .doesNotContain("document.write")
        .doesNotContain("DOMParser")
        .doesNotContain("srcdoc")
        .doesNotContain("javascript:")
        .doesNotContainPattern("\\beval\\s*\\(")
        .doesNotContainPattern("\\bFunction\\s*\\(");
  }

  /** Both would need {@code 'unsafe-inline'}. */
  @Test
  void hasNeitherHandlersNorStylesInAttributes() {
    assertThat(tags()).hasSizeGreaterThan(50);
    assertThat(tags()).flatExtracting(StatisticsPageTest::attributeNames).noneMatch(this::isInline);
    assertThat(page).doesNotContainPattern("setAttribute\\(\\s*['\"`](?:style|on)");
  }

  @Test
  void findsEveryElementThatItsScriptAsksFor() {
    List<String> ids = attributes("id");
    assertThat(ids).doesNotHaveDuplicates();
    Set<String> asked = new TreeSet<>();
    Pattern.compile("byId\\('([^']+)'\\)")
        .matcher(page)
        .results()
        .forEach(match -> asked.add(match.group(1)));
    assertThat(asked).hasSizeGreaterThan(20);
    assertThat(ids).containsAll(asked);
  }

  /** Percentiles are told apart by their hue, in the light theme as in the dark one. */
  @Test
  void coloursOfPercentilesAreFarApart() {
    List<List<Double>> themes = new ArrayList<>();
    for (String name : List.of("p50", "p90", "p99", "p999")) {
      List<Double> hues =
          Pattern.compile("--" + name + ": #([0-9a-f]{6});")
              .matcher(page)
              .results()
              .map(match -> hue(Integer.parseInt(match.group(1), 16)))
              .toList();
      assertThat(hues).as(name).hasSize(2);
      for (List<Double> others : themes) {
        for (int theme = 0; theme < 2; theme++) {
          double apart = Math.abs(hues.get(theme) - others.get(theme));
          assertThat(Math.min(apart, 360 - apart)).as(name).isGreaterThan(40);
        }
      }
      themes.add(hues);
    }
  }

  /** In degrees. */
  private static double hue(int rgb) {
    return 360 * Color.RGBtoHSB(rgb >> 16, rgb >> 8 & 255, rgb & 255, null)[0];
  }

  /** On a phone somebody looks a key up; the plots come below. */
  @Test
  void theLookupComesFirstOnAPhone() {
    String phone = page.substring(page.indexOf("@media (max-width: 40rem)"));
    assertThat(phone.substring(0, phone.indexOf("</style>"))).contains(".asking { order: -1; }");
    assertThat(page.indexOf("class=\"card asking\""))
        .isPositive()
        .isLessThan(page.indexOf("id=\"ask\""));
  }

  @Test
  void isSmallText() {
    assertThat(page.getBytes(UTF_8).length).isLessThan(64 * 1024);
    assertThat(page).startsWith("<!DOCTYPE html>").endsWith("</html>\n");
    assertThat(page.chars()).allMatch(c -> c == '\n' || c >= ' ' && c < 0x7F);
  }

  private boolean isInline(String attribute) {
    return attribute.equals("style") || attribute.startsWith("on");
  }

  /** The start tags, without what the style and the script hold. */
  private List<MatchResult> tags() {
    String markup =
        page.replaceAll("(?s)<script>.*</script>", "").replaceAll("(?s)<style>.*</style>", "");
    assertThat(TAG.matcher(markup).replaceAll("").replaceAll("</[a-z0-9]+>|<!DOCTYPE html>", ""))
        .as("what is left without tags")
        .doesNotContain("<");
    return TAG.matcher(markup).results().toList();
  }

  private List<String> attributes(String name) {
    return tags().stream()
        .flatMap(tag -> ATTRIBUTE.matcher(tag.group(2)).results())
        .filter(attribute -> attribute.group(1).equals(name))
        .map(attribute -> Objects.requireNonNull(attribute.group(2)))
        .toList();
  }

  private static List<String> attributeNames(MatchResult tag) {
    return ATTRIBUTE.matcher(tag.group(2)).results().map(attribute -> attribute.group(1)).toList();
  }

  private int occurrences(String text) {
    return page.split(Pattern.quote(text), -1).length - 1;
  }

  private static String read() {
    try (InputStream resource = StatisticsPageTest.class.getResourceAsStream("page.html")) {
      return new String(Objects.requireNonNull(resource, "page.html").readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
