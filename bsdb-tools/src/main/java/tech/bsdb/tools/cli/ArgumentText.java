package tech.bsdb.tools.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Represents arguments as strings without losing a byte. The bytes of an argument are decoded as
 * UTF-8, and each byte that is not part of a character becomes a lone surrogate, U+DC80 to U+DCFF,
 * as in Python's {@code surrogateescape} (PEP 383). UTF-8 never decodes to such a surrogate, so the
 * mapping is unambiguous and {@link #bytes} returns what was typed.
 */
public final class ArgumentText {
  private static final char ESCAPES = 0xDC00;

  private ArgumentText() {}

  /** The string that represents an argument's bytes. */
  public static String of(byte[] bytes) {
    CharsetDecoder decoder = UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT);
    ByteBuffer in = ByteBuffer.wrap(bytes);
    CharBuffer out = CharBuffer.allocate(bytes.length);
    for (CoderResult result = decoder.decode(in, out, true);
        result.isError();
        result = decoder.decode(in, out, true)) {
      for (int i = 0; i < result.length(); i++) {
        out.put((char) (ESCAPES | (in.get() & 0xFF)));
      }
    }
    return out.flip().toString();
  }

  /**
   * The bytes that a string represents.
   *
   * @throws IllegalArgumentException if it has a surrogate that represents no byte
   */
  public static byte[] bytes(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    text.codePoints()
        .forEach(
            point -> {
              if (isEscape(point)) {
                bytes.write(point);
              } else if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                throw new IllegalArgumentException("lone surrogate");
              } else {
                bytes.writeBytes(Character.toString(point).getBytes(UTF_8));
              }
            });
    return bytes.toByteArray();
  }

  /** Whether the bytes are UTF-8. */
  public static boolean isText(String text) {
    return text.codePoints().noneMatch(ArgumentText::isEscape);
  }

  /**
   * The text for display on one line, which cannot steer a terminal: with {@code \xHH} for each
   * byte that is not part of a character, or part of a control character other than the tab.
   */
  public static String shown(String text) {
    StringBuilder shown = new StringBuilder();
    text.codePoints()
        .forEach(
            point -> {
              if (isEscape(point)) {
                shown.append(String.format("\\x%02x", point & 0xFF));
              } else if (Character.isISOControl(point) && point != '\t') {
                for (byte each : Character.toString(point).getBytes(UTF_8)) {
                  shown.append(String.format("\\x%02x", each));
                }
              } else {
                shown.appendCodePoint(point);
              }
            });
    return shown.toString();
  }

  /**
   * The path whose name has exactly the bytes of the argument.
   *
   * @throws InvalidPathException if Java cannot express such a path in this locale; the reason
   *     includes a remedy
   */
  public static Path path(String text) {
    return Path.of(name(text, nativeCharset()));
  }

  /**
   * The string that Java encodes as the argument's bytes when it opens a file of that name.
   *
   * @throws InvalidPathException as {@link #path}
   */
  public static String name(String text) {
    return name(text, nativeCharset());
  }

  static String name(String text, Charset names) {
    if (text.chars().allMatch(c -> c < 0x80) || !namesAreBytes()) {
      return text;
    }
    byte[] bytes = bytes(text);
    try {
      String name = names.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      ByteBuffer back = names.newEncoder().encode(CharBuffer.wrap(name));
      if (back.equals(ByteBuffer.wrap(bytes))) {
        return name;
      }
    } catch (CharacterCodingException | UnsupportedOperationException inexact) {
      // reported below
    }
    throw new InvalidPathException(
        shown(text),
        isText(text)
            ? "this locale has no such characters: set LC_ALL=C.UTF-8"
            : "the name is not UTF-8, and Java cannot open it: rename it, or link to it under"
                + " another name (ln -s)");
  }

  /** The charset that Java decodes arguments and file names with. */
  public static Charset nativeCharset() {
    try {
      return Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
    } catch (IllegalArgumentException unknown) {
      return Charset.defaultCharset(); // as Java itself does
    }
  }

  /** Whether the system treats arguments and file names as bytes, as all but Windows do. */
  public static boolean namesAreBytes() {
    return File.separatorChar == '/';
  }

  private static boolean isEscape(int point) {
    return point >= (ESCAPES | 0x80) && point <= (ESCAPES | 0xFF);
  }
}
