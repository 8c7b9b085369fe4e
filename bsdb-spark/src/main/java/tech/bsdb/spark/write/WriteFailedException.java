package tech.bsdb.spark.write;

/** Thrown if a version could not be written. The store's current version is unchanged. */
public final class WriteFailedException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WriteFailedException(String message, Throwable cause) {
    super(message + "; the store's current version is unchanged", cause);
  }
}
