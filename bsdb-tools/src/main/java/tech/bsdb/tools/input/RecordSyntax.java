package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The parts in which formats differ: the ends of records, a file's header, and a record's key and
 * value.
 */
final class RecordSyntax {
  private final InputOptions options;

  /** The syntax that the options specify. */
  RecordSyntax(InputOptions options) {
    this.options = options;
  }

  /** Creates the finder of record ends for one file. */
  RecordEnds newRecordEnds() {
    return options.format() instanceof Format.Csv csv
        ? new CsvScanner(csv.delimiter())
        : RecordEnds.LINE_FEEDS;
  }

  /**
   * Takes the header from a file's first chunk: moves the chunk's start past it and counts its
   * lines.
   *
   * @return the header, or null if files have none
   * @throws InputException if the header is invalid
   */
  @Nullable CsvHeader takeHeader(Chunk first, String file) throws InputException {
    return options.format() instanceof Format.Csv csv
        ? CsvHeader.take(first, file, csv, options)
        : null;
  }

  /** Creates a parser for one worker. */
  ChunkParser newParser() {
    Format format = options.format();
    if (format instanceof Format.Csv csv) {
      return new CsvParser(csv, options);
    }
    if (format instanceof Format.Text text) {
      return new LineParser.Separated(text, options);
    }
    if (format instanceof Format.Keys) {
      return new LineParser.Keys(options);
    }
    Format.JsonLines json = (Format.JsonLines) format;
    Format.Rows rows = json.rows();
    return rows == null
        ? new LineParser.Json(json, options)
        : new LineParser.TypedJson(json, rows, options);
  }

  /** Parses chunks, one at a time: fills in a chunk's results from its bytes. */
  @FunctionalInterface
  interface ChunkParser {
    /** Parses a chunk; if bad lines fail the reading, only up to the first one. */
    void parse(Chunk chunk) throws IOException;
  }

  /**
   * Finds the ends of records in a file's bytes, piece by piece: each call continues where the
   * previous one ended.
   */
  interface RecordEnds {
    /**
     * The index after the last record end in the piece, or -1 if there is none; the whole piece has
     * then been seen.
     */
    int lastEnd(byte[] bytes, int from, int to);

    /**
     * The index after the first record end in the piece, or -1 if there is none; the rest has not
     * been seen yet.
     */
    int firstEnd(byte[] bytes, int from, int to);

    /** Each line feed ends a record. */
    RecordEnds LINE_FEEDS =
        new RecordEnds() {
          @Override
          public int lastEnd(byte[] bytes, int from, int to) {
            int lineFeed = ByteSearch.lastIndexOf(bytes, from, to, (byte) '\n');
            return lineFeed < 0 ? -1 : lineFeed + 1;
          }

          @Override
          public int firstEnd(byte[] bytes, int from, int to) {
            int lineFeed = ByteSearch.indexOf(bytes, from, to, (byte) '\n');
            return lineFeed < 0 ? -1 : lineFeed + 1;
          }
        };
  }
}
