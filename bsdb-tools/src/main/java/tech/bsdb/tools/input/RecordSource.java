package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;

/**
 * The source of a database's records, in an order that depends only on the input.
 *
 * <p>For use by one thread, except {@link #stop} and {@link #close}.
 */
public interface RecordSource extends AutoCloseable {
  /** The unit of input that holds one record, in the plural, such as "lines". */
  String unit();

  /** The schema of the values if they are rows, else null; see FORMAT.md §6. */
  @Nullable String valueSchema();

  /** Databases that were found while looking for input, and left out. */
  List<Path> databases();

  /** Notes on the input for users, in full sentences without a full stop. */
  default List<String> notes() {
    return List.of();
  }

  /**
   * Passes records from all parts of the input to the builder as a sample for its dictionary; call
   * it before {@link #feed}. The same input gives the same sample.
   *
   * @param records the maximum number of records
   * @return the number of records passed: 0 if the input cannot be sampled before it is read
   */
  int sample(DatabaseBuilder builder, int records) throws IOException;

  /**
   * Adds all records to the builder, in the calling thread. A source is read once: by this or by
   * {@link #forEach}.
   *
   * @return what was read
   * @throws BadInputException for the first thing that is not a record and must not be left out
   * @throws InputException if an input cannot be read or is damaged, or the source is stopped
   *     meanwhile
   * @throws IOException if the builder throws it
   */
  InputReport feed(DatabaseBuilder builder, InputListener listener) throws IOException;

  /**
   * Passes all records to the visitor, in the calling thread. A source is read once: by this or by
   * {@link #feed}.
   *
   * @return what was read
   * @throws IOException as {@link #feed}, or if the visitor throws it
   */
  InputReport forEach(RecordVisitor visitor, InputListener listener) throws IOException;

  /**
   * Gives the file of what was left out its final name, once the result of the records is complete.
   * Until then an older file of that name stays, and {@link #close} leaves it there. Does nothing
   * if no such file is wanted.
   */
  void publishRejects() throws IOException;

  /**
   * The place of a record that was read, such as {@code FILE:LINE}.
   *
   * @param recordNumber its number from 0 in the order of reading, not counting what was left out
   * @return null if there was no such record, or its place was not kept
   */
  @Nullable String place(long recordNumber);

  /** Stops a reading in another thread, which then gets an {@link InputException}. */
  void stop();

  /** {@linkplain #stop Stops} and removes what was not published. */
  @Override
  void close();
}
