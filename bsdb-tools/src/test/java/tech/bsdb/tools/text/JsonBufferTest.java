package tech.bsdb.tools.text;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

@ExtendWith(SeedInFailure.class)
final class JsonBufferTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final JsonFactory JSON = new JsonFactory();

  private final JsonBuffer out = new JsonBuffer();

  @Test
  void everyByteIsWrittenAsByJackson() throws IOException {
    for (int b = 0; b < 256; b++) {
      byte[] bytes = {(byte) b};
      assertThat(text(bytes, 0, 1)).as("byte %s", b).isEqualTo(model(bytes));
    }
  }

  @Test
  void escapesWorkInEveryPlaceOfAWord() throws IOException {
    for (String special :
        new String[] {"\"", "\\", "\n", "\u0001", "é", "中", "😀", "\u007f", "\u2028"}) {
      for (int length = 0; length < 20; length++) {
        for (int place = 0; place <= length; place++) {
          byte[] bytes =
              ("a".repeat(place) + special + special + "b".repeat(length - place)).getBytes(UTF_8);
          assertThat(text(bytes, 0, bytes.length)).isEqualTo(model(bytes));
        }
      }
    }
  }

  @Test
  void randomRangesAreWrittenAsByJackson() throws IOException {
    Random random = new Random(SEED);
    for (int round = 0; round < 20_000; round++) {
      byte[] bytes = randomText(random);
      int from = random.nextInt(bytes.length + 1);
      int to = from + random.nextInt(bytes.length - from + 1);
      assertThat(text(bytes, from, to - from))
          .as("-Dbsdb.seed=%s, round %s", SEED, round)
          .isEqualTo(model(Arrays.copyOfRange(bytes, from, to)));
    }
  }

  /** Mostly ASCII, some of it special, some other characters, and occasionally a bad byte. */
  private static byte[] randomText(Random random) {
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(60);
    int special = random.nextInt(30) + 1;
    for (int i = 0; i < length; i++) {
      text.appendCodePoint(
          switch (random.nextInt(special + 4)) {
            case 0 -> random.nextInt(0x800);
            case 1 -> random.nextInt(0xD800);
            case 2 -> 0x10000 + random.nextInt(0x100000);
            case 3 -> "\"\\\n\u0000".charAt(random.nextInt(4));
            default -> ' ' + random.nextInt(95);
          });
    }
    byte[] bytes = text.toString().getBytes(UTF_8);
    if (bytes.length > 0 && random.nextInt(4) == 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    return bytes;
  }

  private String text(byte[] bytes, int offset, int length) {
    out.truncate(0);
    out.putText(bytes, offset, length);
    return new String(out.bytes(), 0, out.length(), UTF_8);
  }

  private static String model(byte[] bytes) throws IOException {
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      StringWriter json = new StringWriter();
      try (JsonGenerator generator = JSON.createGenerator(json)) {
        generator.writeString(text);
      }
      return json.toString();
    } catch (CharacterCodingException notText) {
      return "{\"base64\":\"" + Base64.getEncoder().encodeToString(bytes) + "\"}";
    }
  }

  @Test
  void invalidTextLeavesNothingBehind() {
    out.put("before".getBytes(UTF_8));
    assertThat(out.putString(new byte[] {'a', '\n', 'b', (byte) 0xC3}, 0, 4)).isFalse();
    assertThat(out.copy()).asString(UTF_8).isEqualTo("before");
  }

  @Test
  void growsForTheLongestFormOfEveryByte() throws IOException {
    byte[] controls = new byte[100_000];
    assertThat(text(controls, 0, controls.length)).isEqualTo(model(controls));
    byte[] binary = new byte[100_001];
    Arrays.fill(binary, (byte) 0xFF);
    assertThat(text(binary, 0, binary.length)).isEqualTo(model(binary));
  }

  @Test
  void aLargeArrayIsNotKept() {
    out.put(new byte[1 << 20]);
    byte[] fitting = out.bytes();
    out.reset();
    assertThat(out.bytes()).as("a MiB is kept").isSameAs(fitting);
    out.put(new byte[(1 << 20) + 1]);
    out.reset();
    assertThat(out.bytes()).hasSizeLessThan(1 << 20);
    assertThat(out.length()).isZero();
  }

  @Test
  void truncateChecksItsRange() {
    out.put('a');
    assertThatThrownBy(() -> out.truncate(2)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> out.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
  }
}
