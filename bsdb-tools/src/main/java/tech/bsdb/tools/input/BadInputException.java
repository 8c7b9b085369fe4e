package tech.bsdb.tools.input;

/**
 * A line of the input, or a row, is not a record; the message is {@code FILE:LINE: reason} or
 * {@code FILE: row N: reason}, followed by the option that would allow it.
 */
public final class BadInputException extends InputException {
  private static final long serialVersionUID = 1L;

  private final String file;
  private final long line;

  BadInputException(String file, long line, String place, String reason, String tip) {
    super(place + ": " + reason + (tip.isEmpty() ? "" : " (" + tip + ")"));
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

  /** The number of the line or row, from 1; for a CSV record of several lines, the first. */
  public long line() {
    return line;
  }
}
