package tech.bsdb.spark.write;

/** Thrown if a version could not be written. The write has no effect. */
public final class WriteFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WriteFailedException(String message, Throwable cause) {
    super(message, cause);
  }
}
