package tech.bsdb.tools.parquet;

import java.io.EOFException;
import java.io.IOException;
import org.apache.parquet.crypto.ParquetCryptoRuntimeException;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.FileSources;

/**
 * Turns exceptions thrown while reading a file into messages for users: whether the file could not
 * be read, or is not valid Parquet. The Parquet library throws many kinds of exceptions on invalid
 * bytes.
 */
final class Damage {
  private Damage() {}

  /**
   * Returns the message for an exception.
   *
   * @param file the name shown to users
   * @param place the place in the file, ending in a colon and a space; or empty
   */
  static InputException of(String file, String place, Throwable thrown) {
    if (thrown instanceof InputException named) {
      return named;
    }
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof ParquetCryptoRuntimeException) {
        return new InputException(file + ": is encrypted, which is not supported", thrown);
      }
      if (isStructure(cause)) {
        return damaged(file, place, "its metadata or a page's header cannot be read", thrown);
      }
      if (cause instanceof EOFException) {
        return damaged(file, place, "it ends too early", thrown);
      }
    }
    if (thrown instanceof IOException && !String.valueOf(thrown.getMessage()).contains("damaged")) {
      return FileSources.explain(file, thrown);
    }
    return damaged(file, place, message(thrown), thrown);
  }

  private static boolean isStructure(Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains("can not read class") || message.contains("Required field");
  }

  /** Returns the deepest message meant for people, skipping Java's own about array indexes. */
  private static String message(Throwable thrown) {
    String words = "its content is invalid";
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      boolean ofJava =
          cause instanceof NullPointerException
              || cause instanceof IndexOutOfBoundsException
              || cause instanceof NegativeArraySizeException
              || cause instanceof ClassCastException
              || cause instanceof ArithmeticException;
      String message = cause.getMessage();
      if (!ofJava && message != null) {
        words = message.lines().findFirst().orElse(words);
      }
    }
    return words;
  }

  private static InputException damaged(String file, String place, String words, Throwable thrown) {
    String known = words.startsWith("damaged: ") ? "" : "damaged: ";
    return new InputException(file + ": " + place + known + words, thrown);
  }
}
