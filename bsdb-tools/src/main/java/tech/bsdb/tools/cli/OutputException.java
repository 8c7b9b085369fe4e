package tech.bsdb.tools.cli;

import java.io.IOException;

/** Standard output cannot be written: its reader has gone away, or its device is full. */
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

  /** The same failure, with a note on what was done nevertheless. */
  public OutputException but(String done) {
    return new OutputException(getMessage() + "; " + done, this);
  }

  /** Whether the reader closed its end of the pipe, which is not an error. */
  public boolean closedPipe() {
    return closedPipe;
  }
}
