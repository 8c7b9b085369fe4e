package tech.bsdb.tools.cli;

import com.sun.management.UnixOperatingSystemMXBean;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An exception described for the user: one line, with the remedy if one is known.
 *
 * @param words the line
 * @param bug whether only bsdb's developers can fix it
 */
public record Diagnosis(String words, boolean bug) {
  private static final long ENOUGH_FILES = 4096;

  /** What libraries say that unpack native code, at the first attempt and at others. */
  private static final Pattern NATIVE =
      Pattern.compile(
          "Cannot unpack |Could not initialize class"
              + " (com\\.github\\.luben\\.zstd|org\\.xerial\\.snappy|net\\.jpountz|io\\.netty)\\.");

  /** What callers say with a {@link NotDirectoryException} that is about no directory. */
  private static final Pattern SENTENCE = Pattern.compile(" is (not a|neither) ");

  /** The usual messages of failed system calls, and the remedy for each. */
  private static final Map<String, String> CURES =
      Map.of(
          "no space left on device", "free some space, or write elsewhere",
          "disk quota exceeded", "free some space, or write elsewhere",
          "too many open files", "raise the limit with: ulimit -n " + moreFiles(),
          "read-only file system", "write elsewhere",
          " bytes are still to come, but only ", "make room, or keep fewer versions",
          "file too large", "the file system or ulimit -f limits file sizes");

  /** Describes an exception. */
  public static Diagnosis of(Throwable thrown) {
    Throwable failure = unwrapped(thrown);
    if (failure instanceof OutOfMemoryError error) {
      return mistake(outOfMemory(error));
    }
    Throwable unloaded = unloaded(thrown);
    if (unloaded != null) {
      return mistake(withoutLibrary(unloaded));
    }
    if (failure instanceof UsageException || failure instanceof OutputException) {
      return mistake(String.valueOf(failure.getMessage()));
    }
    if (failure instanceof FileSystemException e) {
      return mistake(describe(e));
    }
    if (failure instanceof IOException e) {
      return mistake(withCure(e.getMessage() == null ? nameOf(e.getClass()) : e.getMessage()));
    }
    if (failure instanceof InvalidPathException e) {
      boolean lossy = !"UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));
      String tip = lossy ? "; in this locale only ASCII names work, so set LC_ALL=C.UTF-8" : "";
      return mistake("not a path: \"" + e.getInput() + "\" (" + e.getReason() + ")" + tip);
    }
    if (failure instanceof ReadOnlyFileSystemException) {
      return mistake(withCure("read-only file system"));
    }
    String message = failure.getMessage() == null ? "" : ": " + failure.getMessage();
    return new Diagnosis("internal error: " + failure.getClass().getSimpleName() + message, true);
  }

  /** What kept a native library from being loaded, in a chain of causes; null if nothing did. */
  public static @Nullable Throwable unloaded(Throwable thrown) {
    Throwable found = null;
    int depth = 0;
    for (Throwable cause = thrown; cause != null && depth < 32; cause = cause.getCause()) {
      String message = String.valueOf(cause.getMessage());
      boolean library =
          cause instanceof UnsatisfiedLinkError
              || cause instanceof LinkageError && NATIVE.matcher(message).find()
              || cause.getClass().getSimpleName().equals("SnappyError");
      found = library ? cause : found; // the innermost says most
      depth++;
    }
    return found;
  }

  /** Describes a native library that cannot be loaded. */
  public static String withoutLibrary(Throwable unloaded) {
    String why = String.valueOf(unloaded.getMessage()).lines().findFirst().orElse("");
    return ("cannot load a native library: %s (it is unpacked to %s, which must exist, be writable,"
            + " have 10 MB of room, and allow execution; name another directory with"
            + " BSDB_JAVA_OPTS=-Djava.io.tmpdir=DIR)")
        .formatted(why, System.getProperty("java.io.tmpdir"));
  }

  /** Whether a disk is full, but no path is known, because the system had only a descriptor. */
  public static boolean isUnnamedFullDisk(IOException e) {
    String lower = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    boolean full = lower.startsWith("no space left") || lower.startsWith("disk quota exceeded");
    return full && !(e instanceof FileSystemException);
  }

  private static Diagnosis mistake(String words) {
    return new Diagnosis(words, false);
  }

  /** Removes the wrappers that executors and streams put around the cause. */
  private static Throwable unwrapped(Throwable thrown) {
    Throwable failure = thrown;
    while (failure.getCause() != null
        && (failure instanceof UncheckedIOException
            || failure instanceof ExecutionException
            || failure instanceof CompletionException
            || failure instanceof ExceptionInInitializerError)) {
      failure = failure.getCause();
    }
    return failure;
  }

  private static String describe(FileSystemException e) {
    String file = e.getFile() == null ? "a file" : e.getFile();
    String reason = e.getReason();
    if (reason != null && !reason.isBlank()) {
      return withCure(file + ": " + reason);
    }
    if (e instanceof NoSuchFileException) {
      return file + ": no such file or directory";
    }
    if (e instanceof NotDirectoryException) {
      boolean sentence =
          SENTENCE.matcher(file).find(); // from callers that report "not a database" with it
      return sentence ? file : file + ": not a directory";
    }
    if (e instanceof AccessDeniedException) {
      return file + ": permission denied";
    }
    if (e instanceof FileAlreadyExistsException) {
      return file + ": already exists";
    }
    if (e instanceof DirectoryNotEmptyException) {
      return file + ": the directory is not empty";
    }
    if (e instanceof FileSystemLoopException) {
      return file + ": a symbolic link leads back to a folder above it";
    }
    return file + ": " + nameOf(e.getClass());
  }

  /** Turns {@code FileNotFoundException} into {@code file not found}, for lack of a message. */
  private static String nameOf(Class<?> exception) {
    String name =
        exception == FileNotFoundException.class
            ? "NoSuchFile"
            : exception.getSimpleName().replaceFirst("(Exception|Error)$", "");
    return name.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
  }

  private static String withCure(String message) {
    String lower = message.toLowerCase(Locale.ROOT);
    for (Map.Entry<String, String> cure : CURES.entrySet()) {
      if (lower.contains(cure.getKey())) {
        return message + " (" + cure.getValue() + ")";
      }
    }
    return message;
  }

  /** A limit on open files that is worth trying, above the one in force. */
  private static long moreFiles() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
        ? moreFiles(system.getMaxFileDescriptorCount())
        : ENOUGH_FILES;
  }

  static long moreFiles(long limit) {
    long more = ENOUGH_FILES;
    while (more <= limit && more < Integer.MAX_VALUE) {
      more *= 4;
    }
    return more;
  }

  private static String outOfMemory(OutOfMemoryError error) {
    String what = String.valueOf(error.getMessage()).toLowerCase(Locale.ROOT);
    if (what.contains("thread")) {
      return "cannot start another thread: raise ulimit -u or the container's limit on processes";
    }
    if (what.contains("map failed")) {
      return "cannot map another file: raise ulimit -v or vm.max_map_count";
    }
    if (what.contains("direct buffer") || what.contains("cannot reserve")) {
      return "not enough direct memory; raise it with BSDB_JAVA_OPTS=-XX:MaxDirectMemorySize=1g";
    }
    long mebibytes = Runtime.getRuntime().maxMemory() >> 20;
    return "not enough heap ("
        + mebibytes
        + " MB); raise it with BSDB_JAVA_OPTS=-Xmx"
        + Math.max(512, 2 * mebibytes)
        + "m (or let a build take less, with -ps and --threads)";
  }
}
