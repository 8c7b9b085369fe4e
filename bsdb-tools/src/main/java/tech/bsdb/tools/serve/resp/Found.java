package tech.bsdb.tools.serve.resp;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import tech.bsdb.LookupBatch;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowFields;

/** What was found for a key, and what the steps of one command share. Not thread-safe. */
final class Found {
  private static final byte[] NOTHING = new byte[0];

  /** The array that holds the value. */
  byte[] bytes = NOTHING;

  int offset;

  /** The length of the value in bytes; -1 if the key is absent. */
  int length = -1;

  /** The reader of rows; null where values are strings. */
  @Nullable RowFields rows;

  /** What earlier steps of the command have added up. */
  long sum;

  /** What an earlier step of the command has kept. */
  byte[] kept = NOTHING;

  private boolean alone;

  /** Shows a key's result in a batch. */
  void show(LookupBatch batch, int number) {
    alone = false;
    length = batch.length(number);
    if (length >= 0) {
      bytes = batch.values();
      offset = batch.offset(number);
    }
  }

  /** Shows a value that has an array of its own; null if the key is absent. */
  void show(byte @Nullable [] value) {
    alone = true;
    offset = 0;
    length = value == null ? -1 : value.length;
    bytes = value == null ? NOTHING : value;
  }

  /** Whether the key is present. */
  boolean isPresent() {
    return length >= 0;
  }

  /** Whether the key is present, and its value a string. */
  boolean isString() {
    return length >= 0 && rows == null;
  }

  /**
   * Reads some fields of the row that was found.
   *
   * @param wanted their columns; null for all. Whether a field is null can be asked of each.
   * @return null if the key is absent
   * @throws CommandException if it has a string, or bytes that are no row
   */
  @Nullable RowFields row(@Nullable BitSet wanted) throws CommandException {
    if (length < 0) {
      return null;
    }
    RowFields row = rows;
    if (row == null) {
      throw new CommandException(CommandException.WRONG_TYPE);
    }
    try {
      if (wanted == null) {
        row.readAll(bytes, offset, length);
      } else {
        row.read(bytes, offset, length, wanted);
      }
      return row;
    } catch (BadRowException e) {
      throw CommandException.inUtf8(
          "ERR the value is not a row of the data set's schema: " + e.getMessage());
    }
  }

  /** Begins another command. */
  void begin() {
    sum = 0;
    kept = NOTHING;
  }

  /**
   * Requires that a present key has a string.
   *
   * @throws CommandException if it has a row
   */
  void requireString() throws CommandException {
    if (length >= 0 && rows != null) {
      throw new CommandException(CommandException.WRONG_TYPE);
    }
  }

  /** Writes the value of a present key. */
  void write(ReplyWriter out) {
    if (alone) {
      out.bulkAlone(bytes);
    } else {
      out.bulk(bytes, offset, length);
    }
  }
}
