package tech.bsdb.tools.serve.resp;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import tech.bsdb.tools.serve.resp.CommandReader.MalformedCommandException;

/** The words of an inline command, with quotes and escapes as in Redis. */
final class InlineWords {
  private final byte[] line;
  private int at;

  private InlineWords(byte[] line) {
    this.line = line;
  }

  /**
   * Splits a line into words.
   *
   * @throws MalformedCommandException if a quote is not closed, or text follows a closing quote
   */
  static List<byte[]> split(byte[] line) throws MalformedCommandException {
    InlineWords words = new InlineWords(line);
    List<byte[]> found = new ArrayList<>();
    while (words.skipBlanks()) {
      found.add(words.word());
    }
    return found;
  }

  private boolean skipBlanks() {
    while (at < line.length && isBlank(line[at])) {
      at++;
    }
    return at < line.length && line[at] != 0;
  }

  private static boolean isBlank(byte octet) {
    return octet == ' ' || (octet >= '\t' && octet <= '\r');
  }

  private byte[] word() throws MalformedCommandException {
    ByteArrayOutputStream word = new ByteArrayOutputStream();
    while (at < line.length && !isBlank(line[at]) && line[at] != 0) {
      byte octet = line[at++];
      if (octet != '"' && octet != '\'') {
        word.write(octet);
        continue;
      }
      readQuoted(octet, word);
      if (at < line.length && !isBlank(line[at])) {
        throw unbalanced();
      }
      break;
    }
    return word.toByteArray();
  }

  /** Reads up to a quote; between single quotes, only such a quote can be escaped. */
  private void readQuoted(byte quote, ByteArrayOutputStream word) throws MalformedCommandException {
    while (at < line.length) {
      byte octet = line[at++];
      if (octet == quote) {
        return;
      }
      if (octet == '\\' && at < line.length && (quote == '"' || line[at] == quote)) {
        word.write(escaped());
      } else {
        word.write(octet);
      }
    }
    throw unbalanced();
  }

  private int escaped() {
    byte octet = line[at++];
    if (octet == 'x' && at + 1 < line.length) {
      int high = Character.digit(line[at], 16);
      int low = Character.digit(line[at + 1], 16);
      if (high >= 0 && low >= 0) {
        at += 2;
        return high << 4 | low;
      }
    }
    return switch (octet) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'b' -> '\b';
      case 'a' -> 7;
      default -> octet;
    };
  }

  private static MalformedCommandException unbalanced() {
    return new MalformedCommandException("unbalanced quotes in request");
  }
}
