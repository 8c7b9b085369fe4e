package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.serve.resp.RedisTranscript.Data;
import tech.bsdb.tools.serve.resp.RedisTranscript.Dialogue;
import tech.bsdb.tools.serve.resp.RedisTranscript.Exchange;
import tech.bsdb.tools.serve.resp.RedisTranscript.Raw;
import tech.bsdb.tools.serve.resp.RedisTranscript.Section;

/** The recorded answers of Redis can be read, and are whole. */
class RedisTranscriptTest {
  @Test
  void everySectionHoldsConversations() throws IOException {
    RedisTranscript transcript = RedisTranscript.read();
    assertThat(transcript.sections())
        .extracting(Section::name)
        .containsExactly(
            "empty",
            "strings",
            "hashes",
            "connection",
            "introspection",
            "unknown",
            "newer",
            "raw",
            "password",
            "raw-password");
    for (Section section : transcript.sections()) {
      assertThat(section.dialogues().isEmpty())
          .as(section.name())
          .isEqualTo(section.name().startsWith("raw"));
      assertThat(section.raws().isEmpty())
          .as(section.name())
          .isNotEqualTo(section.name().startsWith("raw"));
      assertThat(section.password().isPresent())
          .as(section.name())
          .isEqualTo(section.name().endsWith("password"));
    }
    assertThat(transcript.section("empty").data()).isEqualTo(Data.NOTHING);
    assertThat(transcript.section("hashes").data()).isEqualTo(Data.HASHES);
    assertThat(transcript.section("raw").data()).isEqualTo(Data.STRINGS);
  }

  @Test
  void everyReplyIsWhole() throws IOException {
    for (Section section : RedisTranscript.read().sections()) {
      for (Dialogue dialogue : section.dialogues()) {
        assertThat(dialogue.exchanges()).as("line " + dialogue.line()).isNotEmpty();
        for (Exchange exchange : dialogue.exchanges()) {
          String place = "line " + exchange.line() + ": " + exchange.text();
          assertThat(text(exchange.resp2())).as(place).matches("(?s)[-+:$*%_~#,=].*\r\n");
          if (section.password().isEmpty()) {
            assertThat(text(Objects.requireNonNull(exchange.resp3())))
                .as(place)
                .matches("(?s)[-+:$*%_~#,=].*\r\n");
          }
        }
      }
      for (Raw raw : section.raws()) {
        assertThat(text(raw.received())).as("line " + raw.line()).matches("(?s)|.*\r\n");
      }
    }
  }

  @Test
  void dataMatchTheReplies() throws IOException {
    RedisTranscript transcript = RedisTranscript.read();
    assertThat(transcript.strings()).hasSizeGreaterThan(10);
    for (RedisTranscript.Entry entry : transcript.strings()) {
      assertThat(text(reply(transcript.section("strings"), "GET", entry.key())))
          .isEqualTo("$" + entry.value().length + "\r\n" + text(entry.value()) + "\r\n");
    }
    assertThat(transcript.hashes()).hasSizeGreaterThan(1);
    for (RedisTranscript.Hash hash : transcript.hashes()) {
      assertThat(text(reply(transcript.section("hashes"), "HLEN", hash.key())))
          .isEqualTo(":" + hash.fields().size() + "\r\n");
    }
  }

  @Test
  void aConnectionsNumberIsMasked() {
    assertThat(
            text(RedisTranscript.withoutId("$2\r\nid\r\n:123\r\n:7\r\n\377".getBytes(ISO_8859_1))))
        .isEqualTo("$2\r\nid\r\n:<id>\r\n:7\r\n\377");
  }

  @Test
  void readsWhatItQuotes() {
    byte[] bytes = new byte[256];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) i;
    }
    String quoted = RedisTranscript.quoted(bytes);
    RedisTranscript transcript =
        RedisTranscript.parse("data string " + quoted + "*2 " + quoted + "\n");
    assertThat(transcript.strings().get(0).key()).hasSize(512).startsWith(bytes).endsWith(bytes);
    assertThat(transcript.strings().get(0).value()).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nosuch",
        "data string \"a\"",
        "data string \"a\" \"b",
        "data string \"a\"\"b\"",
        "data string \"a\" \"\\q\"",
        "data hash \"a\" \"b\"",
        "data list \"a\" \"b\" \"c\"",
        "> \"PING\"",
        "section a everything",
        "section a nothing\n> \"PING\"\n> \"PING\"",
        "section a nothing\n> \"PING\"",
        "section a nothing\nraw \"a\"\ngot \"a\"",
        "section a nothing\n> \"PING\"\n2 \"a\"\nraw \"a\"",
        "section a nothing\n+ \"PING\"",
        "section a nothing\n2 \"a\"",
        "section a nothing\nraw \"a\"\nclosed",
        "section a nothing\nraw \"a\"\ngot \"a\"\nraw \"a\"",
        "section a nothing\n> \"PING\"\n2 \"a\"\n2 \"a\"",
        "section a nothing\n> \"PING\"\n2 \"a\"\n3 \"a\"\nopen",
      })
  void refusesLinesOutOfPlace(String text) {
    assertThatThrownBy(() -> RedisTranscript.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("line ");
  }

  private static byte[] reply(Section section, String command, byte[] key) {
    List<String> words = List.of(command, text(key));
    return section.dialogues().stream()
        .map(dialogue -> dialogue.exchanges().get(0))
        .filter(
            exchange ->
                exchange.command().stream().map(RedisTranscriptTest::text).toList().equals(words))
        .findFirst()
        .orElseThrow()
        .resp2();
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }
}
