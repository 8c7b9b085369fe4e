package tech.bsdb.tools.publish;

import java.io.IOException;

/** A version failed a check; the message has the figures and the option that required it. */
final class VersionRefusedException extends IOException {
  private static final long serialVersionUID = 1L;

  VersionRefusedException(String message) {
    super(message);
  }
}
