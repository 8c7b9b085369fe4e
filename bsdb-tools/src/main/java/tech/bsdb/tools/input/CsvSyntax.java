package tech.bsdb.tools.input;

import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.Reader;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.Utf8;

/** Comma-separated values: a {@link CsvScanner} finds the records, FastCSV their fields. */
final class CsvSyntax implements RecordSyntax {
  private final Format.Csv format;
  private final InputOptions options;

  CsvSyntax(Format.Csv format, InputOptions options) {
    this.format = format;
    this.options = options;
  }

  @Override
  public RecordEnds newRecordEnds() {
    return newScanner();
  }

  @Override
  public ChunkParser newParser() {
    return new CsvParser(this, format, options);
  }

  CsvScanner newScanner() {
    return new CsvScanner(format.delimiter());
  }

  /** Reads rows, each into the given one, from a range of bytes with only good records. */
  Iterator<CsvRow> rows(CsvRow row, byte[] bytes, int from, int to) {
    return CsvReader.builder()
        .fieldSeparator(format.delimiter())
        .quoteCharacter('"')
        .commentStrategy(CommentStrategy.NONE)
        .skipEmptyLines(false)
        .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
        .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
        .maxBufferSize(Integer.MAX_VALUE - 8)
        .build(row, new ByteCharacters(bytes, from, to))
        .iterator();
  }

  @Override
  public CsvHeader takeHeader(Chunk first, String file) throws InputException {
    CsvScanner scanner = newScanner();
    int end = scanner.firstEnd(first.bytes, 0, first.to);
    if (end < 0) {
      end = first.to;
      scanner.end(first.bytes[end - 1]);
    }
    int textEnd = endOfText(first.bytes, 0, end);
    @Nullable Defect defect = first.beyondHolding != null ? first.beyondHolding : scanner.defect();
    if (defect == null) {
      defect =
          textEnd == 0
              ? Defect.EMPTY_LINE
              : Utf8.isValid(first.bytes, 0, textEnd) ? null : Defect.INVALID_ENCODING;
    }
    if (defect != null) {
      throw new InputException(
          file + ":1: " + defect.describe(options) + ", in place of a CSV header");
    }
    first.from = end;
    first.lines = scanner.lines();
    List<String> names = rows(new CsvRow(), first.bytes, 0, textEnd).next().texts();
    return CsvHeader.of(names, format, options.deleteField(), file);
  }

  /** The end of a record's text; {@code end} is that of the record with its line end. */
  static int endOfText(byte[] bytes, int from, int end) {
    if (end == from || bytes[end - 1] != '\n') {
      return end;
    }
    return end - 1 > from && bytes[end - 2] == '\r' ? end - 2 : end - 1;
  }

  /** Reads bytes as characters of the same values. */
  private static final class ByteCharacters extends Reader {
    private final byte[] bytes;
    private final int to;
    private int at;

    ByteCharacters(byte[] bytes, int from, int to) {
      this.bytes = bytes;
      this.at = from;
      this.to = to;
    }

    @Override
    public int read(char[] characters, int offset, int length) {
      int count = Math.min(length, to - at);
      if (count <= 0) {
        return -1;
      }
      for (int i = 0; i < count; i++) {
        characters[offset + i] = (char) (bytes[at + i] & 0xFF);
      }
      at += count;
      return count;
    }

    @Override
    public void close() {}
  }
}
