package tech.bsdb.lake;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.FileSources;

/** Turns exceptions of the lakes' libraries into messages for users. */
public final class LakeFailures {
  private LakeFailures() {}

  /**
   * Explains why a table or a file cannot be read.
   *
   * @param name the name shown to users
   * @param message what the library says, if no file system says more
   */
  public static InputException explain(String name, String message, Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InputException explained) {
        return explained;
      }
      if (cause instanceof IOException || cause instanceof LinkageError) {
        return FileSources.explain(name, cause);
      }
    }
    String words = message.lines().findFirst().orElse("");
    return new InputException(
        name + ": " + (words.isEmpty() ? failure.getClass().getSimpleName() : words), failure);
  }

  /**
   * Explains why a file cannot be read, which may be that it is gone.
   *
   * @param needer what needs the file
   * @param reason why it may be gone, and what to do
   */
  public static InputException missing(
      String name, String needer, String reason, RuntimeException failure) {
    FileNotFoundException gone = gone(failure);
    return gone == null
        ? explain(name, String.valueOf(failure.getMessage()), failure)
        : new InputException(
            "%s: cannot be read, because a file that %s needs is missing (%s): %s"
                .formatted(name, needer, gone.getMessage(), reason),
            failure);
  }

  private static @Nullable FileNotFoundException gone(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof FileNotFoundException gone) {
        return gone;
      }
    }
    return null;
  }
}
