package tech.bsdb.tools.serve.batch;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.Rounds;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.text.Utf8;

@ExtendWith(SeedInFailure.class)
final class BatchKeysTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final JsonFactory JSON = new JsonFactory();
  private static final int MANY = 1_000_000;

  @Test
  void aLineIsAKey() throws Exception {
    assertThat(lines("")).isEmpty();
    assertThat(lines("a")).containsExactly("a");
    assertThat(lines("a\n")).containsExactly("a");
    assertThat(lines("\n")).containsExactly("");
    assertThat(lines("\r\n")).containsExactly("");
    assertThat(lines("a\n\n")).containsExactly("a", "");
    assertThat(lines("a\r\nb\nc\r\n")).containsExactly("a", "b", "c");
    assertThat(lines("a\rb\r\r\n\r")).as("only before \\n").containsExactly("a\rb\r", "\r");
    assertThat(lines(" a \u0000\u00ff\u00ef\u00bb\u00bf\n\t"))
        .containsExactly(" a \u0000\u00ff\u00ef\u00bb\u00bf", "\t");
  }

  @Test
  void linesAreDecoded() throws Exception {
    assertThat(parse(() -> BatchKeys.lines(KeyEncoding.HEX, MANY), "6162\r\n\n7A", 1))
        .containsExactly("ab", "", "z");
    assertThat(parse(() -> BatchKeys.lines(KeyEncoding.BASE64URL, MANY), "_w\n_w==", 3))
        .containsExactly("\u00ff", "\u00ff");
    refuses(
        () -> BatchKeys.lines(KeyEncoding.HEX, MANY),
        "61\n\n6\n",
        "line 3 (at byte 4) is not hex: two digits per byte");
    refuses(
        () -> BatchKeys.lines(KeyEncoding.HEX, MANY),
        "61\r\n6g",
        "line 2 (at byte 4) is not hex: two digits per byte");
  }

  @Test
  void aStringOfTheArrayIsAKey() throws Exception {
    assertThat(json("[]")).isEmpty();
    assertThat(json(" [ ] \n")).isEmpty();
    assertThat(json("[\"\"]")).containsExactly("");
    assertThat(json("\t[ \"a\" ,\r\n\"b c\"\n] ")).containsExactly("a", "b c");
    assertThat(json("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u007F\\u00e9\\u4e2d\\uD83D\\uDE00\"]"))
        .containsExactly(bytes("\"\\/\b\f\n\r\t\u0000\u007fé中😀"));
    assertThat(json("[\"" + bytes("é中😀") + "\"]")).containsExactly(bytes("é中😀"));
    assertThat(parse(() -> BatchKeys.array(KeyEncoding.HEX, MANY), "[\"6\\u0031\",\"\"]", 1))
        .containsExactly("a", "");
    assertThat(parse(() -> BatchKeys.array(KeyEncoding.BASE64URL, MANY), "[\"_w\"]", 1))
        .containsExactly("\u00ff");
  }

  @Test
  void whatIsNoArrayOfStringsIsRefusedWithItsPlace() {
    refusesJson("", "the body is not a JSON array of strings: it is empty");
    refusesJson("  ", "the body is not a JSON array of strings: it is empty");
    refusesJson("{\"a\":1}", "the body is not a JSON array of strings: no [ at byte 0");
    refusesJson(" \"a\"", "the body is not a JSON array of strings: no [ at byte 1");
    refusesJson("\u00ef\u00bb\u00bf[]", "the body is not a JSON array of strings: no [ at byte 0");
    refusesJson("[", "the body is not JSON: it ends inside the array at byte 1");
    refusesJson("[\"a\"", "the body is not JSON: it ends inside the array at byte 4");
    refusesJson("[\"a", "the body is not JSON: it ends inside the array at byte 3");
    refusesJson("[\"a\\", "the body is not JSON: it ends inside the array at byte 4");
    refusesJson("[\"a\\u12", "the body is not JSON: it ends inside the array at byte 7");
    refusesJson("[\"a\",", "the body is not JSON: it ends inside the array at byte 5");
    refusesJson("[\"a\",1]", "element 1 (at byte 5) is not a string");
    refusesJson("[null]", "element 0 (at byte 1) is not a string");
    refusesJson("[\"a\",]", "element 1 (at byte 5) is not a string");
    refusesJson("[,\"a\"]", "element 0 (at byte 1) is not a string");
    refusesJson("[\"a\",[\"b\"]]", "element 1 (at byte 5) is not a string");
    refusesJson("[\"a\",{}]", "element 1 (at byte 5) is not a string");
    refusesJson(
        "[\"a\" \"b\"]", "the body is not JSON: neither , nor ] after an element at byte 5");
    refusesJson("[\"a\"}", "the body is not JSON: neither , nor ] after an element at byte 4");
    refusesJson("[] x", "the body is not JSON: data after the array at byte 3");
    refusesJson("[][]", "the body is not JSON: data after the array at byte 2");
    refusesJson("[\"a\nb\"]", "the body is not JSON: a control character in a string at byte 3");
    refusesJson("[\"\\x\"]", "the body is not JSON: unknown escape at byte 2");
    refusesJson(
        "[\"\\u12G4\"]", "the body is not JSON: no four hexadecimal digits after \\u at byte 2");
    for (String half :
        new String[] {
          "\\ud800",
          "\\udc00",
          "\\ud800x",
          "\\ud800\\n",
          "\\ud800\\ud800\\udc00",
          "\\ud800\\u0041",
          "\\ud800\u00c3\u00a9"
        }) {
      refusesJson("[\"\",\"" + half + "\"]", "element 1 (at byte 4) has a lone surrogate");
    }
    for (String wrong :
        new String[] {
          "\u00c3",
          "\u00ff",
          "\u00c0\u0080",
          "\u00ed\u00a0\u0080",
          "\u00c3\\u00e9",
          "\u00f4\u0090\u0080\u0080"
        }) {
      refusesJson("[\"a\",\"b" + wrong + "\"]", "element 1 (at byte 5) is not UTF-8");
    }
    refuses(
        () -> BatchKeys.array(KeyEncoding.HEX, MANY),
        "[\"61\",\"1\"]",
        "element 1 (at byte 6) is not hex: two digits per byte");
  }

  @Test
  void hostileBodiesAreRefusedAtTheirFirstWrongByte() {
    refusesJson("[".repeat(100_000), "element 0 (at byte 1) is not a string");
    refusesJson("[" + "9".repeat(1_000_000), "element 0 (at byte 1) is not a string");
    refusesJson("[" + "{\"a\":".repeat(100_000), "element 0 (at byte 1) is not a string");
    refusesJson(" ".repeat(300_000), "the body is not a JSON array of strings: it is empty");
    refusesJson("[\"" + "a".repeat(1_000_000), "element 0 (at byte 1) is longer than 200000 bytes");
    refusesJson(
        "[\"" + "\\u0041".repeat(200_001), "element 0 (at byte 1) is longer than 200000 bytes");
    refusesJson(
        "[\"" + "\\n".repeat(200_001) + "\"]", "element 0 (at byte 1) is longer than 200000 bytes");
    refuses(
        () -> BatchKeys.lines(KeyEncoding.TEXT, MANY),
        "a\n" + "b".repeat(1_000_000),
        "line 2 (at byte 2) is longer than 200000 bytes");
    refuses(
        () -> BatchKeys.lines(KeyEncoding.TEXT, MANY),
        "b".repeat(200_001) + "\n",
        "line 1 (at byte 0) is longer than 200000 bytes");
    refuses(
        () -> BatchKeys.lines(KeyEncoding.TEXT, MANY),
        "b".repeat(200_001),
        "line 1 (at byte 0) is longer than 200000 bytes");
  }

  @Test
  void longKeysAreTaken() throws Exception {
    String longest = "k".repeat(BatchKeys.MAX_KEY);
    assertThat(json("[\"" + longest + "\"]")).containsExactly(longest);
    assertThat(lines(longest + "\r\n" + longest + "\n" + longest))
        .containsExactly(longest, longest, longest);
    assertThat(json("[\"" + "\\u0041".repeat(200_000) + "\"]"))
        .containsExactly("A".repeat(200_000));
    assertThat(json("[\"" + "\\u0041".repeat(65_535) + "\"]")).containsExactly("A".repeat(65_535));
  }

  @Test
  void tooManyKeysAreAnotherRefusal() throws Exception {
    for (String body : new String[] {"[\"a\",\"b\",\"c\"]", "a\nb\nc", "a\nb\nc\n"}) {
      Supplier<BatchKeys> three =
          body.startsWith("[")
              ? () -> BatchKeys.array(KeyEncoding.TEXT, 3)
              : () -> BatchKeys.lines(KeyEncoding.TEXT, 3);
      Supplier<BatchKeys> two =
          body.startsWith("[")
              ? () -> BatchKeys.array(KeyEncoding.TEXT, 2)
              : () -> BatchKeys.lines(KeyEncoding.TEXT, 2);
      assertThat(parse(three, body, 4)).containsExactly("a", "b", "c");
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> parse(two, body, 4))
          .withMessage("there are more than 2 keys in one request")
          .satisfies(e -> assertThat(e.status()).isEqualTo(413));
    }
  }

  @Test
  void damagedArraysAreJudgedAsJacksonDoes() throws IOException {
    Random random = new Random(SEED);
    String[] parts = {
      "[",
      "]",
      ",",
      "\"",
      "a",
      "é",
      "😀",
      "\\\"",
      "\\u00e9",
      "\\ud83d\\ude00",
      " ",
      "\n",
      "\\n",
      "{",
      "1"
    };
    int valid = 0;
    int rounds = Rounds.of(8_000);
    for (int round = 0; round < rounds; round++) {
      StringBuilder text = new StringBuilder("[");
      int count = random.nextInt(5);
      for (int i = 0; i < count; i++) {
        text.append(i == 0 ? "" : ",").append('"');
        for (int j = random.nextInt(5); j > 0; j--) {
          text.append(parts[4 + random.nextInt(7)]);
        }
        text.append('"');
      }
      text.append("]");
      if (random.nextInt(2) == 0) {
        text.insert(random.nextInt(text.length()), parts[random.nextInt(parts.length)]);
      }
      byte[] body = text.toString().getBytes(UTF_8);
      if (random.nextInt(4) == 0) {
        body[random.nextInt(body.length)] = (byte) random.nextInt();
      }
      List<String> expected = jackson(body);
      List<String> actual;
      try {
        actual =
            parse(
                () -> BatchKeys.array(KeyEncoding.TEXT, MANY),
                new String(body, ISO_8859_1),
                1 + random.nextInt(9));
      } catch (RequestRefusedException e) {
        actual = null;
      }
      assertThat(actual).as("-Dbsdb.seed=%s, round %s: %s", SEED, round, text).isEqualTo(expected);
      valid += expected == null ? 0 : 1;
    }
    assertThat(valid).isBetween(rounds / 4, rounds / 8 * 7);
  }

  private static @Nullable List<String> jackson(byte[] body) throws IOException {
    if (!Utf8.isValid(body, 0, body.length)) {
      return null;
    }
    List<String> keys = new ArrayList<>();
    try (JsonParser parser = JSON.createParser(new String(body, UTF_8))) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        return null;
      }
      while (parser.nextToken() == JsonToken.VALUE_STRING) {
        if (!UTF_8.newEncoder().canEncode(parser.getText())) {
          return null;
        }
        keys.add(bytes(parser.getText()));
      }
      return parser.currentToken() == JsonToken.END_ARRAY && parser.nextToken() == null
          ? keys
          : null;
    } catch (JsonProcessingException e) {
      return null;
    }
  }

  @Test
  void whatIsNotThereIsNotGiven() throws Exception {
    BatchKeys keys = BatchKeys.lines(KeyEncoding.TEXT, 2);
    keys.take("a".getBytes(UTF_8));
    keys.end();
    for (int wrong : new int[] {-1, 1, 2, 100}) {
      assertThatThrownBy(() -> keys.key(wrong)).isInstanceOf(IndexOutOfBoundsException.class);
    }
    assertThatThrownBy(() -> BatchKeys.lines(KeyEncoding.TEXT, -1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aWrongBodyIsRefusedBeforeItEnds() throws Exception {
    BatchKeys array = BatchKeys.array(KeyEncoding.TEXT, 2);
    array.take("[\"a\",".getBytes(UTF_8));
    assertThatThrownBy(() -> array.take("1".getBytes(UTF_8)))
        .hasMessage("element 1 (at byte 5) is not a string");
    BatchKeys lines = BatchKeys.lines(KeyEncoding.TEXT, 2);
    lines.take("a\nb\nc".getBytes(UTF_8));
    assertThatThrownBy(() -> lines.take("\n".getBytes(UTF_8)))
        .hasMessage("there are more than 2 keys in one request");
  }

  /** The bytes of a text as characters, so that they show. */
  private static String bytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  private static List<String> json(String body) throws RequestRefusedException {
    return inEverySplit(() -> BatchKeys.array(KeyEncoding.TEXT, MANY), body);
  }

  private static List<String> lines(String body) throws RequestRefusedException {
    return inEverySplit(() -> BatchKeys.lines(KeyEncoding.TEXT, MANY), body);
  }

  /** The keys, the same for every split of a short body in two, and for pieces of every length. */
  private static List<String> inEverySplit(Supplier<BatchKeys> readers, String body)
      throws RequestRefusedException {
    List<String> keys = parse(readers, body, Math.max(1, body.length()));
    for (int length = 1; length < Math.min(100, body.length()); length++) {
      assertThat(parse(readers, body, length)).isEqualTo(keys);
      BatchKeys reader = readers.get();
      byte[] bytes = body.getBytes(ISO_8859_1);
      reader.take(Arrays.copyOf(bytes, length));
      reader.take(new byte[0]);
      reader.take(Arrays.copyOfRange(bytes, length, bytes.length));
      reader.end();
      assertThat(keys(reader)).isEqualTo(keys);
    }
    return keys;
  }

  private static List<String> parse(Supplier<BatchKeys> readers, String body, int pieces)
      throws RequestRefusedException {
    byte[] bytes = body.getBytes(ISO_8859_1);
    BatchKeys reader = readers.get();
    for (int from = 0; from < bytes.length; from += pieces) {
      reader.take(Arrays.copyOfRange(bytes, from, Math.min(from + pieces, bytes.length)));
    }
    reader.end();
    return keys(reader);
  }

  private static List<String> keys(BatchKeys list) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      keys.add(new String(list.key(i), ISO_8859_1));
    }
    return keys;
  }

  private static void refusesJson(String body, String message) {
    refuses(() -> BatchKeys.array(KeyEncoding.TEXT, MANY), body, message);
  }

  private static void refuses(Supplier<BatchKeys> readers, String body, String message) {
    for (int pieces :
        body.length() < 100 ? new int[] {1, 2, 3, 100} : new int[] {8191, 10_000_000}) {
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> parse(readers, body, pieces))
          .withMessage(message)
          .satisfies(e -> assertThat(e.status()).isEqualTo(message.contains("longer") ? 413 : 400));
    }
  }
}
