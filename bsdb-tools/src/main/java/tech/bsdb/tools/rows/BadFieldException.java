package tech.bsdb.tools.rows;

/**
 * Text that is no row of the schema; the message names the column, and within it the place, and
 * says why. It has no stack trace: it says nothing of this program.
 */
public final class BadFieldException extends Exception {
  private static final long serialVersionUID = 1L;

  private static final int SHOWN = 60;
  private static final int LONGEST_PATH = 200;

  private final String reason;
  private final boolean unknown;
  private String path = "";

  private BadFieldException(String reason, boolean unknown) {
    super(reason, null, false, false);
    this.reason = reason;
    this.unknown = unknown;
  }

  /**
   * A field with something wrong.
   *
   * @param reason reads on from the column's name
   */
  static BadFieldException because(String reason) {
    return new BadFieldException(reason, false);
  }

  /** A value that does not fit. */
  static BadFieldException value(String shown, String problem) {
    return because(": " + shown + " " + problem);
  }

  /** A field that the schema does not have. */
  static BadFieldException unknown() {
    return new BadFieldException(" is not in the schema", true);
  }

  /** Whether the schema has no such field. */
  public boolean isUnknownField() {
    return unknown;
  }

  /** Puts the field before its name that it is in. */
  BadFieldException in(String field) {
    path = path.isEmpty() || path.startsWith("[") ? field + path : field + "." + path;
    if (path.length() > LONGEST_PATH) {
      path = path.substring(0, LONGEST_PATH - 3) + "...";
    }
    return this;
  }

  /** Puts the number before it that it has in its list. */
  BadFieldException in(int element) {
    return in("[" + element + "]");
  }

  @Override
  public String getMessage() {
    return "column " + quoted(path) + reason;
  }

  /** A text as messages show it: quoted, on one line, and its beginning if it is long. */
  static String shown(char[] text, int from, int to) {
    int end = to - from <= SHOWN ? to : from + SHOWN;
    if (end < to && Character.isHighSurrogate(text[end - 1])) {
      end--;
    }
    String quoted = quoted(new String(text, from, end - from));
    return end == to ? quoted : quoted.substring(0, quoted.length() - 1) + "...\"";
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                default -> {
                  if (isShown(c)) {
                    quoted.appendCodePoint(c);
                  } else {
                    quoted.append(String.format("\\u%04X", c));
                  }
                }
              }
            });
    return quoted.append('"').toString();
  }

  /** Whether a character is no control character, no line end, and not half of a pair. */
  private static boolean isShown(int c) {
    boolean half = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
    return !half && !Character.isISOControl(c) && c != 0x2028 && c != 0x2029;
  }
}
