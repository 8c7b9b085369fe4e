package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the formats differ in: where a record ends, what a file's header says, and what is a
 * record's key and value.
 */
interface RecordSyntax {
  /** For one file. */
  RecordEnds newRecordEnds();

  /**
   * Takes the header out of a file's first chunk: moves the chunk's start behind it and counts its
   * lines.
   *
   * @return null where files have none
   * @throws InputException if the header is no good
   */
  @Nullable CsvHeader takeHeader(Chunk first, String file) throws InputException;

  /** For one worker. */
  ChunkParser newParser();

  /** Parses chunks, one at a time: fills a chunk's outcome from its bytes. */
  @FunctionalInterface
  interface ChunkParser {
    /** Parses; where a bad line is to fail the reading, up to the first one. */
    void parse(Chunk chunk) throws IOException;
  }

  /** The syntax that the options ask for. */
  static RecordSyntax of(InputOptions options) {
    Format format = options.format();
    if (format instanceof Format.Text text) {
      byte[] separator = text.separator().getBytes(StandardCharsets.UTF_8);
      return lines(options, () -> new SeparatedFields(separator, new Admission(options)));
    }
    if (format instanceof Format.JsonLines json) {
      Format.Rows rows = json.rows();
      return lines(
          options,
          rows == null
              ? () -> new JsonFields(json.keyField(), new Admission(options))
              : () -> new JsonRowFields(json.keyField(), rows, options));
    }
    return new CsvSyntax((Format.Csv) format, options);
  }

  private static RecordSyntax lines(InputOptions options, Supplier<LineFields> fields) {
    return new RecordSyntax() {
      @Override
      public RecordEnds newRecordEnds() {
        return RecordEnds.LINE_FEEDS;
      }

      @Override
      public @Nullable CsvHeader takeHeader(Chunk first, String file) {
        return null;
      }

      @Override
      public ChunkParser newParser() {
        return new LineParser(fields.get(), options);
      }
    };
  }
}
