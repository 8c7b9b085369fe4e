package tech.bsdb.tools.cli;

import java.io.IOException;

/** Standard output takes no more: its reader went away, or its device is full. */
public final class OutputException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean closedPipe;

  OutputException(IOException cause, boolean closedPipe) {
    super("cannot write to standard output: " + cause.getMessage(), cause);
    this.closedPipe = closedPipe;
  }

  private OutputException(String message, OutputException cause) {
    super(message, cause);
    this.closedPipe = cause.closedPipe;
  }

  /** The same failure, with words about what was done nevertheless. */
  public OutputException but(String done) {
    return new OutputException(getMessage() + "; " + done, this);
  }

  /** Whether the reader at the other end of a pipe has had enough, which is no error. */
  public boolean closedPipe() {
    return closedPipe;
  }
}
