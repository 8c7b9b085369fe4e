package tech.bsdb.tools.input;

/**
 * A line of the input is not a record; the message is {@code FILE:LINE: reason} and the option that
 * would allow it.
 */
public final class BadInputException extends InputException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long line;

  BadInputException(String file, long line, String reason, String tip) {
    super(file + ":" + line + ": " + reason + (tip.isEmpty() ? "" : " (" + tip + ")"));
    this.file = file;
    this.line = line;
  }

  /**
   * The file as the user named it, or its path below the directory that the user named; "stdin" for
   * standard input.
   */
  public String file() {
    return file;
  }

  /** The number of the line, from 1; of a CSV record that has several, the first. */
  public long line() {
    return line;
  }
}
