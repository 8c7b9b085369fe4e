package tech.bsdb.transfer;

import java.io.IOException;
import tech.bsdb.error.CorruptDatabaseException;

/** Bytes that arrived damaged: at the origin, or on their way. The message names no file. */
final class Damage extends IOException {
  private static final long serialVersionUID = 1L;

  Damage(CorruptDatabaseException damaged) {
    super(words(damaged), damaged);
  }

  private static String words(CorruptDatabaseException damaged) {
    String message = String.valueOf(damaged.getMessage());
    String file = damaged.file() + ": ";
    String words = message.startsWith(file) ? message.substring(file.length()) : message;
    int tip = words.lastIndexOf(" (copy");
    return tip < 0 ? words : words.substring(0, tip);
  }
}
