package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.serve.resp.CommandReader.MalformedCommandException;

/** Commands are the same in whatever pieces they arrive. */
class CommandReaderTest {
  private static final long SEED = Long.getLong("bsdb.seed", 40);
  private static final int MOST = 50_000;

  private static byte[] latin1(String text) {
    return text.getBytes(ISO_8859_1);
  }

  private static String array(String... arguments) {
    StringBuilder out = new StringBuilder("*" + arguments.length + "\r\n");
    for (String each : arguments) {
      out.append('$').append(each.length()).append("\r\n").append(each).append("\r\n");
    }
    return out.toString();
  }

  /** Reads bytes that arrive in pieces, each of which ends at one of the places. */
  private static List<String> read(byte[] bytes, int... ends) {
    return read(true, bytes, ends);
  }

  private static List<String> read(boolean trusted, byte[] bytes, int... ends) {
    CommandReader reader = new CommandReader(MOST, trusted);
    List<String> commands = new ArrayList<>();
    ByteBuf in = Unpooled.directBuffer();
    try {
      int from = 0;
      for (int end : ends) {
        in.writeBytes(bytes, from, end - from);
        from = end;
        while (reader.read(in)) {
          commands.add(shown(reader));
        }
      }
      commands.add(in.readableBytes() + " left, inside " + reader.isInside());
    } catch (MalformedCommandException e) {
      commands.add(String.valueOf(e.getMessage()));
    } finally {
      in.release();
    }
    return commands;
  }

  private static String shown(CommandReader reader) {
    StringBuilder out = new StringBuilder();
    for (byte[] each : reader.arguments()) {
      out.append('[').append(new String(each, ISO_8859_1)).append(']');
    }
    return out.append(" held ").append(reader.held()).toString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*2\r\n$3\r\nGET\r\n$2\r\nk1\r\n*2\r\n$3\r\nGET\r\n$10\r\n0123456789\r\n",
        "*1\r\n$4\r\nPING\r\nPING\r\nGET 'a b'\r\n*0\r\n*-1\r\n\r\n*1\r\n$0\r\n\r\n",
        "*2\r\n$3\r\nGET--$2\r\nk1--*2\r-$3\r-SET\r\n$1\r\n\r\r\n",
        "*2\r\n$3\r\nGET\r\n$02\r\nk1\r\n",
        "*2\r\n$3\r\nGET\r\n$-1\r\n",
        "*2\r\n$3\r\nGET\r\n$x\r\n",
        "*2\r\n$3\r\nGET\r\n:1\r\n",
        "*02\r\n",
        "*1\r\n\r\n",
        "*1234567\r\n$1\r\na\r\n",
        "*9999999999\r\n",
        "*2\r\n$3\r\nGET\r\n$49869\r\n",
        "*2\r\n$3\r\nGET\r\n$49933\r\n",
        "*2\r\n$3\r\nGET\r\n$9999999999999999999\r\n"
      })
  void everySplitGivesTheSame(String text) {
    byte[] bytes = latin1(text);
    List<String> whole = read(bytes, bytes.length);
    for (int first = 0; first <= bytes.length; first++) {
      for (int second = first; second <= bytes.length; second++) {
        assertThat(read(bytes, first, second, bytes.length)).isEqualTo(whole);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "*2\r\n$4\r\nAUTH\r\n$2\r\nk1\r\n*1\r\n$4\r\nPING\r\n",
        "*2\r\n$4\r\nAUTH\r\n$16385\r\n",
        "*11\r\n$4\r\nMGET\r\n"
      })
  void strangersAreReadAsTheOthersWithinTheirLimits(String text) {
    byte[] bytes = latin1(text);
    List<String> whole = read(false, bytes, bytes.length);
    String last = whole.get(whole.size() - 1);
    assertThat(last).matches(text.contains("PING") ? "0 left.*" : "unauthenticated .*bulk length");
    for (int first = 0; first <= bytes.length; first++) {
      assertThat(read(false, bytes, first, bytes.length)).isEqualTo(whole);
    }
  }

  @Test
  void aLineThatIsTooLongIsNoCommand() {
    for (String begin : List.of("*", "*1\r\n$")) {
      byte[] bytes = latin1(begin + "1".repeat(70_000));
      String wrong =
          begin.length() == 1 ? "too big mbulk count string" : "too big bulk count string";
      assertThat(read(bytes, bytes.length)).containsExactly(wrong);
      assertThat(read(bytes, 3, 100, 60_000, bytes.length)).containsExactly(wrong);
    }
  }

  @Test
  void commandsOfAnyLengthsAreReadInAnyPieces() {
    Random random = new Random(SEED);
    for (int round = 0; round < 300; round++) {
      StringBuilder text = new StringBuilder();
      List<String> expected = new ArrayList<>();
      for (int i = random.nextInt(20); i >= 0; i--) {
        String[] arguments = new String[1 + random.nextInt(random.nextInt(10) > 0 ? 4 : 300)];
        StringBuilder shown = new StringBuilder();
        int held = 0;
        for (int a = 0; a < arguments.length; a++) {
          int longest = arguments.length > 4 ? 40 : random.nextInt(10) > 0 ? 80 : 20_000;
          arguments[a] = "x".repeat(a == 0 ? 3 : random.nextInt(longest));
          held += arguments[a].length() + 32;
          shown.append('[').append(arguments[a]).append(']');
        }
        if (held > MOST) {
          continue;
        }
        text.append(array(arguments));
        expected.add(shown + " held " + held);
      }
      expected.add("0 left, inside false");
      byte[] bytes = latin1(text.toString());
      int[] ends = random.ints(random.nextInt(30), 0, bytes.length + 1).sorted().toArray();
      int[] all = Arrays.copyOf(ends, ends.length + 1);
      all[ends.length] = bytes.length;
      assertThat(read(bytes, all)).as("-Dbsdb.seed=%d", SEED).isEqualTo(expected);
    }
  }
}
