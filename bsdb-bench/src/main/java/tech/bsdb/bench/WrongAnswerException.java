package tech.bsdb.bench;

import java.io.IOException;

/**
 * Thrown when the database returns a value that contradicts the source. The message names the key.
 */
final class WrongAnswerException extends IOException {
  private static final long serialVersionUID = 1L;

  WrongAnswerException(String message) {
    super(message);
  }
}
