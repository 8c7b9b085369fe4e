package tech.bsdb.tools.input;

import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A piece of a file that starts and ends at record boundaries, with its parsed contents. Its lines
 * include those of a header, before {@code from}.
 *
 * <p>Chunks are reused: the source fills a chunk, a worker parses it, the calling thread takes the
 * result, and the source fills the chunk again. A chunk belongs to one thread at a time.
 */
final class Chunk extends Parsed {
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

  private final InputOptions options;
  private final Map<Defect, Reason> reasons = new EnumMap<>(Defect.class);

  Chunk(int capacity, Batch records, InputOptions options) {
    super(records);
    this.bytes = new byte[capacity];
    this.options = options;
  }

  /**
   * Adds a bad record.
   *
   * @param detail a more specific error message than that of the defect, if there is one
   * @param line its line, from 0
   * @param from where its bytes begin
   * @param to where they end
   */
  void addBad(Defect defect, @Nullable String detail, long line, int from, int to) {
    Reason reason = reasons.computeIfAbsent(defect, added -> added.reason(null, options));
    bad.add(
        new Bad(line, detail == null ? reason : defect.reason(detail, options), bytes, from, to));
  }

  /** Resets the contents; leaves the bytes in the array. */
  @Override
  protected void clear() {
    super.clear();
    from = 0;
    to = 0;
    header = null;
    beyondHolding = null;
  }
}
