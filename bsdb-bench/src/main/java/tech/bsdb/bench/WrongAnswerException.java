package tech.bsdb.bench;

import java.io.IOException;

/** The database gave a value that the source contradicts; the message names the key. */
final class WrongAnswerException extends IOException {
  private static final long serialVersionUID = 1L;

  WrongAnswerException(String message) {
    super(message);
  }
}
