package tech.bsdb.lake;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.source.HadoopPlace;

/** Turns exceptions of the lakes' libraries into messages for users. */
public final class LakeFailures {
  /** What to do about a damaged file. */
  public static final String ANOTHER_VERSION = "build from a version without it (--as-of)";

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
    return new InputException(name + ": " + words(message, failure), failure);
  }

  private static String words(String message, Throwable failure) {
    return message
        .lines()
        .findFirst()
        .map(line -> line.replaceFirst("^\\S+@\\w+ is ", "is ")) // an object of Iceberg's
        .orElse(failure.getClass().getSimpleName());
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

  /** Whether a failure means that a file's bytes are wrong, and not that they could not be read. */
  public static boolean isDamage(RuntimeException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException) {
        return isOfBytes(cause);
      }
      if (cause instanceof LinkageError || cause instanceof UnsupportedOperationException) {
        return false;
      }
    }
    return true;
  }

  private static boolean isOfBytes(Throwable cause) {
    return cause instanceof JsonProcessingException
        || cause instanceof ZipException
        || cause.getClass().getName().startsWith("org.apache.orc.")
        || (cause instanceof EOFException
            && !String.valueOf(cause.getMessage()).contains("Call From")); // no answer from HDFS
  }

  /**
   * Explains that a file is damaged.
   *
   * @param needer what needs the file
   * @param instead what to do if there is no good copy
   */
  public static InputException damaged(
      String name, String needer, String instead, Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String message = root.getMessage();
    return new InputException(
        "%s: is damaged or cut off (%s), and %s needs it: copy the file again, or %s"
            .formatted(
                name,
                message == null ? "it ends too early" : words(message, root),
                needer,
                instead),
        failure);
  }

  /**
   * Explains that a directory is no table.
   *
   * @param title the format's
   * @param log the name of the directory of a table's log
   * @param reason what it lacks
   */
  public static InputException noTable(
      HadoopPlace place, String title, String log, String reason, Throwable failure) {
    return new InputException(
        place.path().getName().equals(log)
            ? "%s: is the log of a table: give the table's directory (-i %s)"
                .formatted(place.shown(), place.shown().replaceFirst("/+" + log + "/*$", ""))
            : "%s: is not %s: %s".formatted(place.shown(), title, reason),
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
