package tech.bsdb.tools.text;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.Rounds;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.text.JsonCopier.Outcome;

@ExtendWith(SeedInFailure.class)
final class JsonCopierTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final JsonFactory JSON = new JsonFactory();

  private final JsonBuffer out = new JsonBuffer();
  private final JsonCopier copier = new JsonCopier(out);

  @Test
  void tokensAreUnchangedAndBlanksDropped() {
    assertThat(
            copied(
                " { \"a b\" : [ 1 , -0.10E+07 ,\t\"\\u0041\\/ \\\" é\" , { } , [ ] ] ,\r\n\"a b\":null } \n"))
        .isEqualTo("{\"a b\":[1,-0.10E+07,\"\\u0041\\/ \\\" é\",{},[]],\"a b\":null}");
    String digits = "1234567890".repeat(1000) + "." + "5".repeat(1000) + "e-" + "9".repeat(1000);
    assertThat(copied("[" + digits + "]")).isEqualTo("[" + digits + "]");
    for (String scalar :
        new String[] {
          "0",
          "-0",
          "10",
          "1e5",
          "1.0",
          "true",
          "false",
          "null",
          "\"\"",
          "\"\ud83d\ude00\"",
          "\"\\ud800\"",
          "{}",
          "[]"
        }) {
      assertThat(copied("\n" + scalar + " ")).isEqualTo(scalar);
    }
  }

  @Test
  void invalidJsonIsRefused() {
    for (String wrong :
        new String[] {
          "",
          " ",
          "x",
          "nul",
          "nulll",
          "null null",
          "tru",
          "+1",
          "01",
          "-",
          "-x",
          "1.",
          ".5",
          "1e",
          "1e+",
          "0x1",
          "1.e5",
          "00",
          "NaN",
          "Infinity",
          "'a'",
          "\"",
          "\"a",
          "\"\n\"",
          "\"\u0000\"",
          "\"\\x\"",
          "\"\\u12\"",
          "\"\\u12g4\"",
          "\"\\",
          "\"\\u123",
          "[",
          "]",
          "[1",
          "[1,",
          "[1,]",
          "[,1]",
          "[1 2]",
          "[1}",
          "{",
          "}",
          "{]",
          "{\"a\"",
          "{\"a\":",
          "{\"a\":1",
          "{\"a\":1,",
          "{\"a\":1,}",
          "{,}",
          "{a:1}",
          "{\"a\" 1}",
          "{\"a\",1}",
          "{1:1}",
          "{\"a\":}",
          "[]]",
          "[][]",
          "{}{}",
          "[1]x",
          "\ufeff1",
          "/**/1",
          "1//",
          "[\"a\" \"b\"]",
          "{\"a\":1 \"b\":2}",
          "\u00a01"
        }) {
      assertThat(copied(wrong)).as(wrong).isNull();
    }
  }

  @Test
  void invalidUtf8IsRefused() {
    for (String wrong :
        new String[] {
          "\"\u00c3\"",
          "\"\u00c0\u0080\"",
          "\"\u00ed\u00a0\u0080\"",
          "\u00ff",
          "\"\u00f4\u0090\u0080\u0080\""
        }) {
      assertThat(copied(wrong.getBytes(ISO_8859_1))).isNull();
    }
  }

  @Test
  void depthIsUnlimited() {
    int depth = 100_000;
    String arrays = "[".repeat(depth);
    assertThat(copied(arrays)).isNull();
    assertThat(copied(arrays + "]".repeat(depth))).hasSize(2 * depth);
    assertThat(copied(arrays + "]".repeat(depth - 1) + "}")).isNull();
    String objects = "{\"a\":[".repeat(depth);
    assertThat(copied(objects)).isNull();
    String whole = objects + "]}".repeat(depth);
    assertThat(copied(whole)).isEqualTo(whole);
    assertThat(copied(objects + "]}".repeat(depth - 1) + "}]")).isNull();
  }

  @Test
  void everyTruncatedTextIsRefused() {
    byte[] whole = "{\"a\":[1.5e3,true,\"\\u00e9é\"],\"b\":{\"c\":null}}".getBytes(UTF_8);
    for (int length = 0; length < whole.length; length++) {
      out.truncate(0);
      assertThat(copier.copy(whole, 0, length)).isEqualTo(Outcome.NOT_JSON);
      assertThat(copier.copyFields(whole, 0, length, (name, offset, count) -> true))
          .isEqualTo(Outcome.NOT_JSON);
      assertThat(out.length()).isZero();
    }
  }

  @Test
  void agreesWithJacksonOnDamagedTexts() throws IOException {
    Random random = new Random(SEED);
    int valid = 0;
    int rounds = Rounds.of(20_000);
    for (int round = 0; round < rounds; round++) {
      StringBuilder text = new StringBuilder();
      addValue(random, text, 4);
      byte[] json = text.toString().getBytes(UTF_8);
      for (int damage = random.nextInt(3); damage > 0; damage--) {
        byte[] with = "{}[],:\"\\u0e+-. \nxtfn\u0001".getBytes(UTF_8);
        json[random.nextInt(json.length)] =
            random.nextInt(9) == 0 ? (byte) random.nextInt() : with[random.nextInt(with.length)];
      }
      boolean expected = jacksonTakes(json);
      String shown = new String(json, ISO_8859_1);
      assertThat(copied(json))
          .as("-Dbsdb.seed=%s, round %s: %s", SEED, round, shown)
          .isEqualTo(expected ? withoutBlanks(new String(json, UTF_8)) : null);
      valid += expected ? 1 : 0;
    }
    assertThat(valid).isBetween(rounds / 5, rounds / 10 * 9);
  }

  private static void addValue(Random random, StringBuilder text, int depth) {
    blanks(random, text);
    int kind = random.nextInt(depth > 0 ? 8 : 6);
    if (kind < 6) {
      text.append(
          switch (kind) {
            case 0 -> "true";
            case 1 -> "null";
            case 2 -> Integer.toString(random.nextInt());
            case 3 -> Double.toString(random.nextGaussian() * Math.pow(10, random.nextInt(40)));
            case 4 -> "\"é\\n\\u00" + (10 + random.nextInt(80)) + " \"";
            default -> "\"\"";
          });
    } else {
      text.append(kind == 6 ? '[' : '{');
      int count = random.nextInt(4);
      for (int i = 0; i < count; i++) {
        if (i > 0) {
          text.append(',');
        }
        blanks(random, text);
        if (kind == 7) {
          text.append("\"n").append(i).append('"');
          blanks(random, text);
          text.append(':');
        }
        addValue(random, text, depth - 1);
      }
      blanks(random, text);
      text.append(kind == 6 ? ']' : '}');
    }
    blanks(random, text);
  }

  private static void blanks(Random random, StringBuilder text) {
    if (random.nextInt(4) == 0) {
      text.append(" \t\r\n".charAt(random.nextInt(4)));
    }
  }

  /** Whether jackson accepts it as characters; as bytes it accepts too much. */
  private static boolean jacksonTakes(byte[] json) throws IOException {
    if (!Utf8.isValid(json, 0, json.length)) {
      return false;
    }
    try (JsonParser parser = JSON.createParser(new String(json, UTF_8))) {
      JsonToken first = parser.nextToken();
      if (first == null) {
        return false;
      }
      parser.skipChildren();
      if (first.isScalarValue()) {
        parser.getText(); // which it reads lazily
      }
      return parser.nextToken() == null;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  private static String withoutBlanks(String json) {
    StringBuilder rest = new StringBuilder();
    boolean inString = false;
    for (int i = 0; i < json.length(); i++) {
      char c = json.charAt(i);
      if (c == '"') {
        inString = !inString;
      }
      if (inString || " \t\r\n".indexOf(c) < 0) {
        rest.append(c);
      }
      if (inString && c == '\\') {
        rest.append(json.charAt(++i));
      }
    }
    return rest.toString();
  }

  private @Nullable String copied(String json) {
    return copied(json.getBytes(UTF_8));
  }

  private @Nullable String copied(byte[] json) {
    byte[] surrounded = new byte[json.length + 4];
    surrounded[0] = '[';
    surrounded[1] = '"';
    surrounded[json.length + 2] = ']';
    surrounded[json.length + 3] = '"';
    System.arraycopy(json, 0, surrounded, 2, json.length);
    out.truncate(0);
    out.put('>');
    Outcome outcome = copier.copy(surrounded, 2, json.length);
    String written = new String(out.bytes(), 1, out.length() - 1, UTF_8);
    if (outcome == Outcome.NOT_JSON) {
      assertThat(written).isEmpty();
      return null;
    }
    return written;
  }
}
