package tech.bsdb.io;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The Linux error numbers that the engines distinguish, and the messages of common ones. */
final class Errno {
  static final int EPERM = 1;
  static final int ENOENT = 2;
  static final int EINTR = 4;
  static final int EIO = 5;
  static final int EAGAIN = 11;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EBUSY = 16;
  static final int EEXIST = 17;
  static final int EINVAL = 22;
  static final int ENFILE = 23;
  static final int EMFILE = 24;
  static final int ENOSYS = 38;
  static final int ECANCELED = 125;

  private Errno() {}

  /** Returns the C library's message for an error number. */
  static String text(int errno) {
    return switch (errno) {
      case EPERM -> "Operation not permitted";
      case ENOENT -> "No such file or directory";
      case EINTR -> "Interrupted system call";
      case EIO -> "Input/output error";
      case 9 -> "Bad file descriptor";
      case EAGAIN -> "Resource temporarily unavailable";
      case ENOMEM -> "Cannot allocate memory";
      case EACCES -> "Permission denied";
      case EBUSY -> "Device or resource busy";
      case EEXIST -> "File exists";
      case 20 -> "Not a directory";
      case 21 -> "Is a directory";
      case EINVAL -> "Invalid argument";
      case ENFILE -> "Too many open files in system";
      case EMFILE -> "Too many open files";
      case ENOSYS -> "Function not implemented";
      case 40 -> "Too many levels of symbolic links";
      case 61 -> "No data available";
      case 116 -> "Stale file handle";
      case 121 -> "Remote I/O error";
      case ECANCELED -> "Operation canceled";
      default -> "error " + errno;
    };
  }

  /** Returns the exception for a file that could not be opened. */
  static IOException cannotOpen(Path file, int errno, boolean direct) {
    return switch (errno) {
      case ENOENT -> new NoSuchFileException(file.toString());
      case EACCES -> new AccessDeniedException(file.toString());
      case EINVAL ->
          new IOException(
              file + ": " + (direct ? DirectEngine.REFUSED : "cannot be opened: " + text(errno)));
      default -> new IOException(file + ": cannot be opened: " + text(errno));
    };
  }
}
