package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.jspecify.annotations.Nullable;

/** An input cannot be read; the message names it and is meant for users. */
public class InputException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception with a message for users. */
  public InputException(String message) {
    super(message);
  }

  /** Creates an exception with a message for users and a cause. */
  public InputException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /**
   * An exception that says which file could not be read and why, in words that users would search
   * for; the cause itself if it says so already.
   */
  public static InputException reading(String file, IOException cause) {
    if (cause instanceof InputException named) {
      return named;
    }
    return new InputException(file + ": " + words(cause), cause);
  }

  private static String words(IOException cause) {
    if (cause instanceof NoSuchFileException) {
      return "no such file or directory";
    }
    if (cause instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (cause instanceof FileSystemException system && system.getReason() != null) {
      return system.getReason();
    }
    String message = cause.getMessage();
    if ("Truncated source".equals(message)) { // of the library for ZSTD
      return "truncated: the Zstandard data ends before its end";
    }
    return message == null ? cause.toString() : message;
  }
}
