package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.serve.batch.Projection.NotJsonException;

@ExtendWith(SeedInFailure.class)
final class ProjectionTest {
  private static final long SEED = SeedInFailure.SEED;

  @Test
  void fieldsComeInTheOrderOfTheDocument() throws Exception {
    assertThat(project("c,a", "{\"a\":1,\"b\":2,\"c\":3}")).isEqualTo("{\"a\":1,\"c\":3}");
    assertThat(project("a,a", "{\"a\":1}")).isEqualTo("{\"a\":1}");
    assertThat(project("x", "{\"a\":1}")).isEqualTo("{}");
    assertThat(project("x", " { } ")).isEqualTo("{}");
    assertThat(project("a", "{\"a\":1,\"b\":0,\"a\":[ 2 ]}"))
        .as("duplicates")
        .isEqualTo("{\"a\":1,\"a\":[2]}");
    assertThat(project("a", "{\"b\":{\"a\":1},\"c\":[{\"a\":1}]}"))
        .as("top level only")
        .isEqualTo("{}");
    assertThat(project("a.b", "{\"a\":{\"b\":1},\"a.b\":2}")).isEqualTo("{\"a.b\":2}");
    assertThat(project(" a", "{\"a\":1,\" a\":2}")).isEqualTo("{\" a\":2}");
  }

  @Test
  void valuesStayAsTheyAre() throws Exception {
    String value = "[1.0,1e0,12345678901234567890123456789012345678.10,\"\\u0041\\/é\",null]";
    assertThat(project("v", "{\"w\":1,\"v\": " + value + "}")).isEqualTo("{\"v\":" + value + "}");
  }

  @Test
  void namesAreComparedWithoutTheirEscapes() throws Exception {
    String json =
        "{\"\\u0061\":1,\"\\u00e9\":2,\"😀\":3,\"\\ud83d\\uDE00\":4,\"\\n"
            + "\\\"\\\\\\/\\b\\f\\r"
            + "\\t\":5,\"\\ud83dx\":6,\"\\ude00\":7,\"\":8}";
    assertThat(project("a", json)).isEqualTo("{\"\\u0061\":1}");
    assertThat(project("é", json)).isEqualTo("{\"\\u00e9\":2}");
    assertThat(project("😀", json)).isEqualTo("{\"😀\":3,\"\\ud83d\\uDE00\":4}");
    assertThat(project("\n\"\\\\/\b\f\r\t", json)).isEqualTo("{\"\\n\\\"\\\\\\/\\b\\f\\r\\t\":5}");
    assertThat(project("?x,?", json)).isEqualTo("{}");
    String longName = "n".repeat(1000);
    assertThat(project(longName, "{\"\\u006e" + longName.substring(1) + "\":1}"))
        .startsWith("{\"\\u006en");
  }

  @Test
  void whatIsNoObjectIsRefused() throws Exception {
    for (String other : new String[] {"1", "[]", "\"a\"", " null", "[{\"a\":1}]"}) {
      refusesValue(other, "the value is not a JSON object");
    }
    for (String wrong :
        new String[] {
          "",
          "{",
          "{\"a\":1",
          "{\"a\":1}}",
          "{\"a\":1,}",
          "{\"a\":1 \"b\":2}",
          "{\"b\":01}",
          "{a:1}",
          "{\"a\"}",
          "[1",
          "x",
          "{\"a\":1}1",
          "{\"a\":" + "[".repeat(100_000)
        }) {
      refusesValue(wrong, "the value is not JSON");
    }
  }

  private static void refusesValue(String value, String message) {
    assertThatExceptionOfType(NotJsonException.class)
        .as(value)
        .isThrownBy(() -> project("a", value))
        .withMessage(message);
  }

  @Test
  void namesAreCounted() throws Exception {
    String thousand =
        IntStream.range(0, 1000).mapToObj(i -> "f" + i).collect(Collectors.joining(","));
    assertThat(project(thousand, "{\"f999\":1,\"f1000\":2,\"f0\":3,\"e\":4}"))
        .isEqualTo("{\"f999\":1,\"f0\":3}");
    refusesNames(thousand + ",x", "fields has more than 1000 names");
    refusesNames("f,".repeat(1_000_000) + "f", "fields has more than 1000 names");
    for (String wrong : new String[] {"", ",", "a,", ",a", "a,,b"}) {
      refusesNames(wrong, "fields has an empty name");
    }
    refusesNames("\ud800", "fields has a lone surrogate");
  }

  private static void refusesNames(String fields, String message) {
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> Projection.parse(fields))
        .withMessage(message)
        .satisfies(e -> assertThat(e.status()).isEqualTo(400));
  }

  @Test
  void randomObjectsLoseTheOtherFields() throws Exception {
    Random random = new Random(SEED);
    String[] values = {"1", "\"a,b\"", "{\"f1\":{}}", "[[],[\"}\"]]", "-0.5e-7", "true"};
    for (int round = 0; round < 5_000; round++) {
      List<String> asked = new ArrayList<>();
      for (int i = random.nextInt(4); i >= 0; i--) {
        asked.add("f" + random.nextInt(8));
      }
      List<String> all = new ArrayList<>();
      List<String> expected = new ArrayList<>();
      for (int i = random.nextInt(8); i > 0; i--) {
        String name = "f" + random.nextInt(8);
        String field = "\"" + name + "\":" + values[random.nextInt(values.length)];
        all.add(random.nextBoolean() ? field : " " + field.replace("\":", "\" :"));
        if (asked.contains(name)) {
          expected.add(field);
        }
      }
      assertThat(project(String.join(",", asked), "{" + String.join(",", all) + "}"))
          .as("-Dbsdb.seed=%s, round %s", SEED, round)
          .isEqualTo("{" + String.join(",", expected) + "}");
    }
  }

  private static String project(String fields, String json) throws Exception {
    AnswerLines lines = new AnswerLines(true, Projection.parse(fields));
    lines.writeValue(json.getBytes(UTF_8));
    return new String(lines.out().copy(), UTF_8);
  }

  @Test
  void aNameMayHaveAComma() throws Exception {
    String fields = "a\\,b,c\\\\";
    assertThat(Projection.parse(fields).names()).containsExactly("a,b", "c\\");
    assertThat(project(fields, "{\"a,b\":1,\"a\":2,\"c\\\\\":3}"))
        .isEqualTo("{\"a,b\":1,\"c\\\\\":3}");
    assertThatThrownBy(() -> Projection.parse("a\\b"))
        .isInstanceOf(RequestRefusedException.class)
        .hasMessageContaining("backslash");
  }
}
