package tech.bsdb.tools.rows;

/**
 * Text that is not a row of the schema; the message names the column, the place within it, and the
 * reason. It has no stack trace, since the fault is not in this program.
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
   * Creates an exception for a bad field.
   *
   * @param reason continues the message after the column's name
   */
  static BadFieldException because(String reason) {
    return new BadFieldException(reason, false);
  }

  /** Creates an exception for a value that does not fit. */
  static BadFieldException value(String shown, String problem) {
    return because(": " + shown + " " + problem);
  }

  /** Creates an exception for a field that is not in the schema. */
  static BadFieldException unknown() {
    return new BadFieldException(" is not in the schema", true);
  }

  /** Whether the field is not in the schema. */
  public boolean isUnknownField() {
    return unknown;
  }

  /** Prepends the enclosing field to the path. */
  BadFieldException in(String field) {
    path = path.isEmpty() || path.startsWith("[") ? field + path : field + "." + path;
    if (path.length() > LONGEST_PATH) {
      path = path.substring(0, LONGEST_PATH - 3) + "...";
    }
    return this;
  }

  /** Prepends the element's index in its list to the path. */
  BadFieldException in(int element) {
    return in("[" + element + "]");
  }

  @Override
  public String getMessage() {
    return "column " + quoted(path) + reason;
  }

  /** Returns a text for a message: quoted, on one line, and truncated if it is long. */
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
    text.codePoints().forEach(c -> quoted.append(shown(c)));
    return quoted.append('"').toString();
  }

  private static String shown(int c) {
    return switch (c) {
      case '\n' -> "\\n";
      case '\r' -> "\\r";
      case '\t' -> "\\t";
      default -> isShown(c) ? Character.toString(c) : String.format("\\u%04X", c);
    };
  }

  /** Whether a character is printable: no control character, line end or lone surrogate. */
  private static boolean isShown(int c) {
    boolean half = c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE;
    return !half && !Character.isISOControl(c) && c != 0x2028 && c != 0x2029;
  }
}
