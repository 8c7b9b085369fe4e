package tech.bsdb.spark.write;

/** Thrown for a row that cannot become a record, unless such rows are skipped. */
final class BadRowsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  BadRowsException(String message) {
    super(message);
  }
}
