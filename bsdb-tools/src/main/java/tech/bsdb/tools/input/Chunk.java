package tech.bsdb.tools.input;

import org.jspecify.annotations.Nullable;

/**
 * A piece of a file from the start of a record to the end of a record, and what is in it.
 *
 * <p>It goes round: the source fills it, a worker parses it, the calling thread takes the outcome,
 * and it is filled again. It belongs to one thread at a time.
 */
final class Chunk {
  /** Its number in the order of the input, from 0. */
  long number;

  /** The index of its file in the list of files. */
  int file;

  /**
   * The bytes; records are in {@code from} to {@code to}. They may be more than usual for one long
   * record.
   */
  byte[] bytes;

  int from;
  int to;

  /** Bytes read from all files up to here. */
  long bytesRead;

  /** What the header of its file says, if there is one. */
  @Nullable CsvHeader header;

  /** Why its only record could not be held; of that record, the bytes are the beginning. */
  @Nullable Defect beyondHolding;

  /** Lines in it, with those before {@code from}. */
  long lines;

  /** Its good records. */
  final Batch batch;

  /** Where its good records stand: line {@code i} of the list is the line of record {@code i}. */
  final LineRuns recordLines = new LineRuns();

  /** Its bad records. */
  final BadRecords badRecords = new BadRecords();

  Chunk(int capacity, Batch batch) {
    this.bytes = new byte[capacity];
    this.batch = batch;
  }

  /** Forgets what it had; the bytes may still be there. */
  void clear() {
    from = 0;
    to = 0;
    header = null;
    beyondHolding = null;
    lines = 0;
    recordLines.clear();
    badRecords.clear();
  }
}
