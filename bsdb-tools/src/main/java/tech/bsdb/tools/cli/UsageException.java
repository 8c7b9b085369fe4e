package tech.bsdb.tools.cli;

/** The command line is wrong; the message says which part of it, and what would be right. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Creates an exception whose message names the option and shows its value. */
  public UsageException(String message) {
    super(message);
  }
}
