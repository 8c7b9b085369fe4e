package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.rows.AvroRows;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.rows.TypedDatabase;
import tech.bsdb.tools.serve.resp.RedisTranscript;
import tech.bsdb.tools.serve.resp.RedisTranscript.Dialogue;
import tech.bsdb.tools.serve.resp.RedisTranscript.Entry;
import tech.bsdb.tools.serve.resp.RedisTranscript.Exchange;
import tech.bsdb.tools.serve.resp.RedisTranscript.Hash;
import tech.bsdb.tools.serve.resp.RedisTranscript.Raw;
import tech.bsdb.tools.serve.resp.RedisTranscript.Section;

/** Every reply is what Redis answers to the same bytes, but for what is listed here. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RespTranscriptTest {
  /**
   * A difference on purpose.
   *
   * @param command matches the command, or what was sent, as the transcript shows it
   * @param reply matches the reply here, as the transcript would show it
   */
  private record Deviation(Pattern command, Pattern reply, String reason) {
    static Deviation of(String command, String reply, String reason) {
      return new Deviation(
          Pattern.compile(command, Pattern.CASE_INSENSITIVE), Pattern.compile(reply), reason);
    }
  }

  private static final List<Deviation> DEVIATIONS =
      List.of(
          Deviation.of(
              "\"ASKING\".*",
              "\"-ERR unknown command 'ASKING'.*",
              "only a member of a cluster has it"),
          Deviation.of(
              "\"OBJECT\" \"ENCODING\" \"text\"",
              ".*listpack.*",
              "rows have one encoding, whatever their size"),
          Deviation.of(
              "\"SCAN\" \"(5|18446744073709551615)\"",
              "\"-ERR the cursor belongs to another version.*",
              "cursors tell their version"),
          Deviation.of(
              "\"SCAN\" \"(-1)?\" .*",
              "\"-ERR invalid cursor.*",
              "Redis reads any text as some cursor"),
          Deviation.of(
              "\"CLIENT\" \"GETNAME\"",
              "\"(\\$-1|_)\\\\r\\\\n\"",
              "a HELLO that fails changes nothing, not even the name"),
          Deviation.of("\"COMMAND\" \"DOCS\" \"get\"", ".*summary.*group.*", "texts of our own"),
          Deviation.of(
              "\"CONFIG\" \"GET\" \"SAVE\"",
              ".*save.*",
              "names are not repeated as they were given"),
          Deviation.of("\"CONFIG\" \"GET\" \"databases\"", ".*1.*", "there is one data set"),
          Deviation.of(
              "\"CONFIG\" \"GET\" \"proto-max-bulk-len\"", "\"[*%]0.*", "few settings are told"),
          Deviation.of(
              "\"CLIENT\" \"(SETINFO|NO-TOUCH)\".*",
              "\"(\\+OK|-ERR wrong number of arguments|-ERR Unrecognized option).*",
              "Redis 7.2 has it"),
          Deviation.of(
              "\"HELLO\".*",
              "\"-NOAUTH HELLO must be called .*HELLO <proto> AUTH <user> <pass> option.*",
              "the words of Redis 7.2"),
          Deviation.of(
              ".*\\\\x00.*",
              "\"(-ERR unknown command 'PI'|\\+PONG|-ERR Protocol error: expected '\\$').*",
              "a zero byte ends no line here, where Redis waits for ever"),
          Deviation.of(
              "\"GET / HTTP.*",
              "\"-ERR wrong number of arguments for 'get'.*",
              "an answer may leave before the next line, which closes, is there"));

  @TempDir Path folder;
  private final RedisTranscript transcript;
  private final List<String> differences = new ArrayList<>();
  private final Set<Deviation> used = new HashSet<>();

  RespTranscriptTest() throws IOException {
    transcript = RedisTranscript.read();
  }

  @Test
  void repliesAreThoseOfRedis() throws IOException {
    Path nothing = Serving.build(folder.resolve("nothing"), Map.of());
    Path strings = strings();
    Path hashes = hashes();
    Path password = Files.writeString(folder.resolve("tokens"), "secret\n");
    for (Section section : transcript.sections()) {
      Path database =
          switch (section.data()) {
            case NOTHING -> nothing;
            case STRINGS -> strings;
            case HASHES -> hashes;
          };
      try (Serving serving = new Serving(database)) {
        serving.resp = true;
        serving.bodyBytes = 1 << 30;
        if (section.password().isPresent()) {
          assertThat(new String(section.password().get(), UTF_8)).isEqualTo("secret");
          serving.tokens = password;
        }
        serving.start();
        compare(section, serving.respPort());
      }
    }
    assertThat(differences).as(String.join("\n", differences)).isEmpty();
    Set<Deviation> unused = new LinkedHashSet<>(DEVIATIONS);
    unused.removeAll(used);
    unused.removeIf(deviation -> deviation.reason.startsWith("an answer may"));
    assertThat(unused).as("differences that there are not").isEmpty();
  }

  private Path strings() throws IOException {
    Map<byte[], byte[]> records = new TreeMap<>(Arrays::compare);
    transcript.strings().forEach(entry -> records.put(entry.key(), entry.value()));
    return Serving.buildBytes(folder.resolve("strings"), records);
  }

  /** Rows with a nullable column for each field that any hash has. */
  private Path hashes() throws IOException {
    Set<String> names = new LinkedHashSet<>();
    for (Hash hash : transcript.hashes()) {
      hash.fields().forEach(field -> names.add(text(field.key())));
    }
    StringBuilder fields = new StringBuilder();
    for (String name : names) {
      fields.append(fields.isEmpty() ? "" : ",");
      fields.append("{\"name\":\"").append(name.replace(' ', '_')).append("\",\"column\":\"");
      fields.append(name).append("\",\"default\":null,\"type\":[\"null\",\"");
      fields.append(name.equals("raw") ? "bytes" : "string").append("\"]}");
    }
    RowSchema schema = AvroRows.schema(fields.toString());
    Map<String, byte[]> rows = new TreeMap<>();
    for (Hash hash : transcript.hashes()) {
      Object[] values = new Object[names.size()];
      for (Entry field : hash.fields()) {
        int column = List.copyOf(names).indexOf(text(field.key()));
        values[column] =
            text(field.key()).equals("raw") ? ByteBuffer.wrap(field.value()) : text(field.value());
      }
      rows.put(text(hash.key()), AvroRows.row(schema, values));
    }
    return TypedDatabase.build(folder.resolve("hashes"), schema.json(), rows);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  private void compare(Section section, int port) throws IOException {
    for (Dialogue dialogue : section.dialogues()) {
      compare(section, dialogue, false, port);
      if (section.password().isEmpty()) {
        compare(section, dialogue, true, port);
      }
    }
    for (Raw raw : section.raws()) {
      compare(section, raw, raw.sent().length, port);
      compare(section, raw, raw.sent().length > 5000 ? 997 : 1, port);
    }
  }

  private void compare(Section section, Dialogue dialogue, boolean resp3, int port)
      throws IOException {
    try (RespWire wire = RespWire.to(port)) {
      if (resp3) {
        assertThat(wire.ask("HELLO", "3")).startsWith("%7\r\n");
      }
      for (Exchange exchange : dialogue.exchanges()) {
        byte[] expected = exchange.resp2();
        byte[] inResp3 = exchange.resp3();
        if (resp3 && inResp3 != null) {
          expected = inResp3;
        }
        String where = section.name() + " " + exchange.line() + (resp3 ? " (3)" : " (2)");
        byte[] reply;
        try {
          reply = wire.send(RespWire.command(exchange.command().toArray(new byte[0][]))).reply();
        } catch (IOException e) {
          differences.add(where + ": " + exchange.text() + ": " + e);
          return;
        }
        compare(where, exchange.text(), expected, reply);
      }
      if (dialogue.isClosed()) {
        assertThat(wire.ended()).as("line %d: closed", dialogue.line()).isTrue();
      }
    }
  }

  private void compare(Section section, Raw raw, int piece, int port) throws IOException {
    String where = section.name() + " " + raw.line() + " in pieces of " + piece;
    byte[] received;
    boolean closed;
    try (RespWire wire = RespWire.to(port)) {
      closed = raw.isClosed();
      send(wire, raw.sent(), piece, closed);
      if (!closed) {
        byte[] first = wire.read(raw.received().length > 0 ? 1 : 0);
        closed = wire.isKnownToHaveEnded();
        wire.shutdownOutput();
        received = concat(first, wire.rest());
      } else {
        received = raw.received().length == 0 ? nothing(wire) : wire.rest();
      }
    } catch (IOException e) {
      differences.add(where + ": " + RedisTranscript.quoted(raw.sent()) + ": " + e);
      return;
    }
    if (closed != raw.isClosed()) {
      differences.add(where + ": closed " + closed + " " + RedisTranscript.quoted(raw.sent()));
    }
    compare(where, RedisTranscript.quoted(raw.sent()), raw.received(), received);
  }

  /** Sends bytes in pieces, all of them unless the server closes the connection before. */
  private static void send(RespWire wire, byte[] bytes, int piece, boolean mayEnd)
      throws IOException {
    try {
      for (int at = 0; at < bytes.length; at += piece) {
        wire.send(bytes, at, Math.min(piece, bytes.length - at));
      }
    } catch (SocketException e) {
      if (!mayEnd) {
        throw e;
      }
    }
  }

  /** What a server sends that closes the connection without a reply, perhaps by a reset. */
  private static byte[] nothing(RespWire wire) throws IOException {
    try {
      return wire.rest();
    } catch (SocketException reset) {
      return new byte[0];
    }
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }

  private void compare(String where, String command, byte[] expected, byte[] reply) {
    String wanted = RedisTranscript.quoted(asHere(expected));
    String got = RedisTranscript.quoted(RedisTranscript.withoutId(reply));
    if (command.toUpperCase(Locale.ROOT).startsWith("\"COMMAND\" \"INFO\" ")) {
      wanted = untilCategories(wanted);
      got = untilCategories(got);
    }
    if (wanted.equals(got)) {
      return;
    }
    for (Deviation deviation : DEVIATIONS) {
      if (deviation.command.matcher(command).matches() && deviation.reply.matcher(got).matches()) {
        used.add(deviation);
        return;
      }
    }
    differences.add(
        where + ": " + cut(command) + "\n    " + cut(wanted) + "\n  , not\n    " + cut(got));
  }

  /**
   * The begin of a description of a command: name, arity, flags and keys. The categories and hints
   * behind them differ.
   */
  private static String untilCategories(String description) {
    int end = description.indexOf("+@");
    return end < 0 ? description : description.substring(0, end - 6);
  }

  private static String cut(String text) {
    return text.length() < 400 ? text : text.substring(0, 400) + "...";
  }

  /** The version that is told differs, since commands of Redis 7.4 are known. */
  private static byte[] asHere(byte[] reply) {
    return text(reply)
        .replace("version\r\n$6\r\n7.0.15\r\n", "version\r\n$5\r\n7.4.0\r\n")
        .getBytes(ISO_8859_1);
  }
}
