package tech.bsdb.tools.input;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.text.Utf8;

/**
 * Parses chunks with one record per line.
 *
 * <p>A line ends at a line feed, and a carriage return right before it belongs to the line end. A
 * carriage return anywhere else is data, even as the last byte of a file.
 */
final class LineParser implements RecordSyntax.ChunkParser {
  private final LineFields fields;
  private final boolean stopAtBad;

  LineParser(LineFields fields, InputOptions options) {
    this.fields = fields;
    this.stopAtBad = options.onBadLine() == InputOptions.OnBadLine.FAIL;
  }

  @Override
  public void parse(Chunk chunk) throws IOException {
    byte[] bytes = chunk.bytes;
    boolean valid = Utf8.isValid(bytes, chunk.from, chunk.to);
    int line = (int) chunk.lines;
    for (int at = chunk.from; at < chunk.to; line++) {
      int lineFeed = ByteSearch.indexOf(bytes, at, chunk.to, (byte) '\n');
      int end =
          lineFeed < 0
              ? chunk.to
              : lineFeed > at && bytes[lineFeed - 1] == '\r' ? lineFeed - 1 : lineFeed;
      Defect defect = handOn(bytes, at, end, valid, chunk.batch);
      if (defect == null) {
        chunk.addGood(line);
      } else {
        chunk.addBad(defect, detail(defect), line, at, end);
        if (stopAtBad) {
          return;
        }
      }
      at = lineFeed < 0 ? chunk.to : lineFeed + 1;
    }
    chunk.lines = line;
  }

  private @Nullable String detail(Defect defect) {
    boolean ofLine = defect == Defect.EMPTY_LINE || defect == Defect.INVALID_ENCODING;
    return ofLine ? null : fields.takeDetail();
  }

  private @Nullable Defect handOn(
      byte[] bytes, int from, int to, boolean valid, RecordVisitor records) throws IOException {
    if (from == to && !fields.takesEmptyLines()) {
      return Defect.EMPTY_LINE;
    }
    if (!valid && !Utf8.isValid(bytes, from, to)) {
      return Defect.INVALID_ENCODING;
    }
    return fields.handOn(bytes, from, to, records);
  }
}
