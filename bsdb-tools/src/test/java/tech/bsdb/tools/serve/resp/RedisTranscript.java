package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What Redis 7 answers, read from {@code redis7.txt}, which {@code
 * build-support/redis_transcript.py} records and whose head describes the format.
 *
 * @param strings the keys and values that servers with {@link Data#STRINGS} hold
 * @param hashes the keys, fields and values that servers with {@link Data#HASHES} hold
 * @param sections the recorded conversations, in the file's order
 */
public record RedisTranscript(List<Entry> strings, List<Hash> hashes, List<Section> sections) {
  /** What Redis sends as the number of a connection, and what stands for it in the file. */
  private static final Pattern CONNECTION_ID = Pattern.compile("(\\$2\r\nid\r\n:)\\d+");

  /** What a server holds. */
  public enum Data {
    NOTHING,
    STRINGS,
    HASHES
  }

  /** A key or field, and its value. */
  public record Entry(byte[] key, byte[] value) {}

  /** A key and its fields, in the order in which Redis returns them. */
  public record Hash(byte[] key, List<Entry> fields) {}

  /**
   * Conversations with servers that hold the same data.
   *
   * @param password the server's password, empty if it has none
   */
  public record Section(
      String name,
      Data data,
      Optional<byte[]> password,
      List<Dialogue> dialogues,
      List<Raw> raws) {}

  /**
   * The exchanges of one connection.
   *
   * @param line the line of its first command, counted from 1
   * @param isClosed whether Redis closed the connection after the last reply
   */
  public record Dialogue(int line, List<Exchange> exchanges, boolean isClosed) {}

  /**
   * A command and its reply.
   *
   * @param resp2 the reply on a connection that has not said HELLO before the dialogue
   * @param resp3 the reply on a connection that has said {@code HELLO 3}; null in a section with a
   *     password
   */
  public record Exchange(int line, List<byte[]> command, byte[] resp2, byte @Nullable [] resp3) {
    /** The command as text, for messages. */
    public String text() {
      return String.join(" ", command.stream().map(RedisTranscript::quoted).toList());
    }
  }

  /**
   * Bytes that were sent on a connection of their own, and all bytes that came back.
   *
   * @param isClosed whether Redis closed the connection
   */
  public record Raw(int line, byte[] sent, byte[] received, boolean isClosed) {}

  public static RedisTranscript read() throws IOException {
    try (InputStream in = RedisTranscript.class.getResourceAsStream("redis7.txt")) {
      return parse(new String(Objects.requireNonNull(in, "redis7.txt").readAllBytes(), US_ASCII));
    }
  }

  /**
   * Throws {@link IllegalArgumentException} with the number of a line that is not in the format.
   */
  public static RedisTranscript parse(String text) {
    Parser parser = new Parser();
    List<String> lines = text.lines().toList();
    for (int i = 0; i <= lines.size(); i++) {
      try {
        if (i < lines.size()) {
          parser.accept(i + 1, lines.get(i));
        } else {
          parser.endSection();
        }
      } catch (RuntimeException e) {
        String line = i < lines.size() ? lines.get(i) : "end of file";
        throw new IllegalArgumentException("line " + (i + 1) + ": " + line, e);
      }
    }
    return new RedisTranscript(parser.strings, parser.hashes, parser.sections);
  }

  public Section section(String name) {
    return sections.stream().filter(section -> section.name.equals(name)).findAny().orElseThrow();
  }

  /** A reply with the marker {@code <id>} in place of its connection's number, as in the file. */
  public static byte[] withoutId(byte[] reply) {
    return CONNECTION_ID
        .matcher(new String(reply, ISO_8859_1))
        .replaceAll("$1<id>")
        .getBytes(ISO_8859_1);
  }

  /** Bytes as a quoted string in the file's notation, for messages. */
  public static String quoted(byte[] bytes) {
    StringBuilder text = new StringBuilder("\"");
    for (byte b : bytes) {
      switch (b) {
        case '\r' -> text.append("\\r");
        case '\n' -> text.append("\\n");
        case '"', '\\' -> text.append('\\').append((char) b);
        default -> text.append(b >= ' ' && b < 0x7f ? "" + (char) b : "\\x%02x".formatted(b));
      }
    }
    return text.append('"').toString();
  }

  private static final class Parser {
    final List<Entry> strings = new ArrayList<>();
    final List<Hash> hashes = new ArrayList<>();
    final List<Section> sections = new ArrayList<>();

    private @Nullable Section section;
    private @Nullable Dialogue dialogue;

    /** The lines of the exchange or of the bytes sent that are not yet complete. */
    private final Map<String, byte[]> open = new LinkedHashMap<>();

    private List<byte[]> command = List.of();
    private int startLine;

    void accept(int number, String line) {
      if (line.isEmpty() || line.startsWith("#")) {
        return;
      }
      int blank = line.indexOf(' ');
      String keyword = blank < 0 ? line : line.substring(0, blank);
      String rest = blank < 0 ? "" : line.substring(blank + 1);
      switch (keyword) {
        case "data" -> data(rest);
        case "section" -> section(rest.split(" ", -1));
        case "password" -> password(one(pieces(rest)));
        case ">" -> {
          endDialogue();
          dialogue = new Dialogue(number, new ArrayList<>(), false);
          start(number, pieces(rest));
        }
        case "+" -> {
          check(!command.isEmpty());
          endExchange();
          start(number, pieces(rest));
        }
        case "2", "3" -> {
          check(!command.isEmpty());
          put(keyword, rest);
        }
        case "raw" -> {
          endDialogue();
          check(open.isEmpty());
          startLine = number;
          put(keyword, rest);
        }
        case "got" -> {
          check(open.containsKey("raw"));
          put(keyword, rest);
        }
        case "open", "closed" -> {
          check(rest.isEmpty());
          close(keyword.equals("closed"));
        }
        default -> throw new IllegalArgumentException(keyword);
      }
    }

    private void data(String rest) {
      check(section == null);
      List<byte[]> parts = pieces(rest.substring(rest.indexOf(' ') + 1));
      if (rest.startsWith("string ")) {
        check(parts.size() == 2);
        strings.add(new Entry(parts.get(0), parts.get(1)));
        return;
      }
      check(rest.startsWith("hash ") && parts.size() >= 3 && parts.size() % 2 == 1);
      List<Entry> fields = new ArrayList<>();
      for (int i = 1; i < parts.size(); i += 2) {
        fields.add(new Entry(parts.get(i), parts.get(i + 1)));
      }
      hashes.add(new Hash(parts.get(0), List.copyOf(fields)));
    }

    private void section(String[] words) {
      check(words.length == 2);
      endSection();
      Data data =
          switch (words[1]) {
            case "nothing" -> Data.NOTHING;
            case "strings" -> Data.STRINGS;
            case "hashes" -> Data.HASHES;
            default -> throw new IllegalArgumentException(words[1]);
          };
      section = new Section(words[0], data, Optional.empty(), new ArrayList<>(), new ArrayList<>());
    }

    private void password(byte[] password) {
      Section old = current();
      check(old.dialogues.isEmpty() && old.raws.isEmpty() && old.password.isEmpty());
      section = new Section(old.name, old.data, Optional.of(password), old.dialogues, old.raws);
    }

    private void start(int number, List<byte[]> words) {
      check(!words.isEmpty());
      current();
      command = words;
      startLine = number;
    }

    private void put(String keyword, String rest) {
      check(open.put(keyword, concatenated(pieces(rest))) == null);
    }

    private void close(boolean isClosed) {
      if (open.containsKey("raw")) {
        current().raws.add(new Raw(startLine, taken("raw"), taken("got"), isClosed));
        check(open.isEmpty());
      } else {
        check(isClosed);
        Dialogue old = Objects.requireNonNull(dialogue);
        check(!old.isClosed);
        dialogue = new Dialogue(old.line, old.exchanges, true);
      }
    }

    private void endExchange() {
      Dialogue current = Objects.requireNonNull(dialogue);
      check(!current.isClosed);
      add(current);
    }

    private void add(Dialogue current) {
      byte[] resp2 = taken("2");
      byte @Nullable [] resp3 = open.remove("3");
      check(open.isEmpty() && (resp3 == null) == current().password.isPresent());
      current.exchanges.add(new Exchange(startLine, command, resp2, resp3));
    }

    private void endDialogue() {
      if (dialogue != null) {
        add(dialogue);
        current().dialogues.add(dialogue);
        dialogue = null;
        command = List.of();
      }
    }

    void endSection() {
      endDialogue();
      check(open.isEmpty());
      if (section != null) {
        sections.add(section);
        section = null;
      }
    }

    private Section current() {
      return Objects.requireNonNull(section, "no section");
    }

    private byte[] taken(String keyword) {
      return Objects.requireNonNull(open.remove(keyword), keyword);
    }

    private static byte[] one(List<byte[]> pieces) {
      check(pieces.size() == 1);
      return pieces.get(0);
    }

    private static void check(boolean condition) {
      if (!condition) {
        throw new IllegalArgumentException("out of place");
      }
    }
  }

  private static byte[] concatenated(List<byte[]> pieces) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    pieces.forEach(all::writeBytes);
    return all.toByteArray();
  }

  /** The pieces of a line: quoted strings, each with an optional count of repetitions. */
  private static List<byte[]> pieces(String line) {
    List<byte[]> pieces = new ArrayList<>();
    int at = 0;
    while (at < line.length()) {
      if (!pieces.isEmpty()) {
        at = skipped(line, at, ' ');
      }
      at = skipped(line, at, '"');
      ByteArrayOutputStream piece = new ByteArrayOutputStream();
      while (line.charAt(at) != '"') {
        char c = line.charAt(at++);
        if (c != '\\') {
          piece.write(c);
          continue;
        }
        char escape = line.charAt(at++);
        switch (escape) {
          case 'r' -> piece.write('\r');
          case 'n' -> piece.write('\n');
          case '"', '\\' -> piece.write(escape);
          case 'x' -> {
            piece.write(Integer.parseInt(line, at, at + 2, 16));
            at += 2;
          }
          default -> throw new IllegalArgumentException("escape at " + at);
        }
      }
      at++;
      int times = 1;
      if (at < line.length() && line.charAt(at) == '*') {
        int end = line.indexOf(' ', at);
        end = end < 0 ? line.length() : end;
        times = Integer.parseInt(line, at + 1, end, 10);
        at = end;
      }
      pieces.add(piece.toString(ISO_8859_1).repeat(times).getBytes(ISO_8859_1));
    }
    return List.copyOf(pieces);
  }

  private static int skipped(String line, int at, char expected) {
    if (line.charAt(at) != expected) {
      throw new IllegalArgumentException("expected " + expected + " at " + at);
    }
    return at + 1;
  }
}
