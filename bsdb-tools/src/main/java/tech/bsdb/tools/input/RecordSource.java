package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;

/**
 * Where the records of a database come from, in an order that depends on nothing but the input.
 *
 * <p>For one thread, but for {@link #stop} and {@link #close}.
 */
public interface RecordSource extends AutoCloseable {
  /** What there is one of for each record, as in "lines". */
  String unit();

  /** The schema of the values where they are rows, else null; see FORMAT.md §6. */
  @Nullable String valueSchema();

  /** Databases that were met while looking for input, and left out. */
  List<Path> databases();

  /** What users should hear about the input, in whole sentences without a full stop. */
  default List<String> notes() {
    return List.of();
  }

  /**
   * Gives the builder records from all parts of the input as a sample for its dictionary; to be
   * called before {@link #feed}. The same input gives the same sample.
   *
   * @param records the most that are given
   * @return how many were given: 0 where the input cannot be sampled before it is read
   */
  int sample(DatabaseBuilder builder, int records) throws IOException;

  /**
   * Adds all records to the builder, in the calling thread. A source is read once: by this or by
   * {@link #forEach}.
   *
   * @return what was read
   * @throws BadInputException if something is not a record and may not be left out: the first such
   * @throws InputException if an input cannot be read or is damaged, or the source is stopped
   *     meanwhile
   * @throws IOException if the builder throws it
   */
  InputReport feed(DatabaseBuilder builder, InputListener listener) throws IOException;

  /**
   * Shows all records to the visitor, in the calling thread. A source is read once: by this or by
   * {@link #feed}.
   *
   * @return what was read
   * @throws IOException as {@link #feed}, or if the visitor throws it
   */
  InputReport forEach(RecordVisitor visitor, InputListener listener) throws IOException;

  /**
   * Gives the file of what was left out its name, once what was made of the records is complete.
   * Until then an older file of that name stays, and {@link #close} leaves it there. Does nothing
   * where no such file is wanted.
   */
  void publishRejects() throws IOException;

  /**
   * Where a record that was read stands, such as {@code FILE:LINE}.
   *
   * @param recordNumber its number from 0 in the order of reading, what was left out not counted
   * @return null if there was no such record, or its place was not kept
   */
  @Nullable String place(long recordNumber);

  /** Ends a reading that goes on in another thread, which gets an {@link InputException}. */
  void stop();

  /** {@linkplain #stop Stops} and removes what was not published. */
  @Override
  void close();
}
