package tech.bsdb.store;

import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;

/** Formats failures as one line of text for users. */
final class ErrorText {
  private ErrorText() {}

  static String of(Throwable failure) {
    String message = failure.getMessage();
    if (failure instanceof FileSystemException e && e.getReason() == null) {
      if (failure instanceof NoSuchFileException) {
        return e.getFile() + ": no such file or directory";
      }
      if (failure instanceof AccessDeniedException) {
        return e.getFile() + ": permission denied";
      }
    }
    if (message == null || message.isBlank()) {
      return failure
          .getClass()
          .getSimpleName()
          .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
          .toLowerCase(Locale.ROOT);
    }
    return message.replaceAll("\\s*\\R\\s*", " ");
  }
}
