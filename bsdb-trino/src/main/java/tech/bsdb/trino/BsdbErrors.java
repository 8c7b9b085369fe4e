package tech.bsdb.trino;

import io.trino.spi.ErrorCode;
import io.trino.spi.ErrorCodeSupplier;
import io.trino.spi.ErrorType;
import io.trino.spi.TrinoException;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/** The error codes of queries that fail because of a database. */
enum BsdbErrors implements ErrorCodeSupplier {
  /** Bytes that cannot be right. */
  BSDB_BAD_DATA(0),
  /** A database that cannot be read, or is no longer there. */
  BSDB_CANNOT_READ(1);

  private static final int BASE = 0x0B5D_0000;

  private final int number;

  BsdbErrors(int number) {
    this.number = number;
  }

  @Override
  public ErrorCode toErrorCode() {
    return new ErrorCode(BASE + number, name(), ErrorType.EXTERNAL, true);
  }

  /** The exception for a failure to read a table. */
  static TrinoException of(String table, Exception failure) {
    boolean damaged =
        failure instanceof CorruptDatabaseException
            || failure instanceof UnsupportedFormatException
            || failure instanceof RecordPages.BadRecordException;
    return new TrinoException(
        damaged ? BSDB_BAD_DATA : BSDB_CANNOT_READ,
        table + ": " + (failure.getMessage() == null ? failure.toString() : failure.getMessage()),
        failure);
  }
}
