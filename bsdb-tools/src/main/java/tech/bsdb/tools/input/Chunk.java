package tech.bsdb.tools.input;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a file that starts and ends at record boundaries, with its parsed contents.
 *
 * <p>Chunks are reused: the source fills a chunk, a worker parses it, the calling thread takes the
 * result, and the source fills the chunk again. A chunk belongs to one thread at a time.
 */
final class Chunk {
  /** Its number in input order, from 0. */
  long number;

  /** The index of its file in the list of files. */
  int file;

  /**
   * The bytes; records are in {@code from} to {@code to}. The array may be larger than usual to
   * hold one long record.
   */
  byte[] bytes;

  int from;
  int to;

  /** Bytes read from all files up to here. */
  long bytesRead;

  /** The header of its file, if there is one. */
  @Nullable CsvHeader header;

  /** Why its only record could not be held, or null. The bytes are the beginning of that record. */
  @Nullable Defect beyondHolding;

  /** Number of lines in it, including those before {@code from}. */
  long lines;

  /** Its good records. */
  final Batch batch;

  /** The lines of its good records, from 1; their numbers count from 0. */
  final Places places = new Places(Integer.MAX_VALUE);

  /** Its bad records, in order. */
  final List<BadRecord> badRecords = new ArrayList<>();

  Chunk(int capacity, Batch batch) {
    this.bytes = new byte[capacity];
    this.batch = batch;
  }

  /** Adds the line of the next good record, from 0. */
  void addGood(int line) {
    places.add(places.records(), 1, 0, line + 1L);
  }

  /** Adds a bad record. */
  void addBad(Defect defect, @Nullable String detail, int line, int from, int to) {
    badRecords.add(new BadRecord(defect, detail, line, from, to));
  }

  /** Resets the contents; leaves the bytes in the array. */
  void clear() {
    from = 0;
    to = 0;
    header = null;
    beyondHolding = null;
    lines = 0;
    places.clear();
    badRecords.clear();
  }

  /**
   * A bad record.
   *
   * @param detail a more specific error message than that of the defect, if there is one
   * @param line its line, from 0
   * @param from where its bytes begin
   * @param to where they end
   */
  record BadRecord(Defect defect, @Nullable String detail, int line, int from, int to) {
    /** The reason, as an error message. */
    String reason(InputOptions options) {
      return detail == null ? defect.describe(options) : detail;
    }
  }
}
