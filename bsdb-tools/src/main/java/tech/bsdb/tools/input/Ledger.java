package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Accounts for every line, chunk by chunk in the order of the input, and maps lines of a chunk to
 * lines of a file.
 */
final class Ledger {
  private final List<InputFile> files;
  private final InputOptions options;
  private final Places places;
  private final Map<Defect, Long> rejectedByDefect = new EnumMap<>(Defect.class);
  private int file = -1;
  private long linesOfFile;
  private long lines;
  private long records;
  private long rejected;

  Ledger(List<InputFile> files, InputOptions options, Places places) {
    this.files = files;
    this.options = options;
    this.places = places;
  }

  /**
   * Enters the next chunk.
   *
   * @param rejects where its bad lines go, or null
   * @throws BadInputException if it has a bad line that must not be left out
   */
  void enter(Chunk chunk, @Nullable Rejects rejects) throws IOException {
    if (chunk.file != file) {
      file = chunk.file;
      linesOfFile = 0;
    }
    for (Chunk.BadRecord bad : chunk.badRecords) {
      enterBad(chunk, bad, rejects);
    }
    places.addAll(chunk.places, records, file, linesOfFile);
    records += chunk.places.records();
    linesOfFile += chunk.lines;
    lines += chunk.lines;
  }

  private void enterBad(Chunk chunk, Chunk.BadRecord bad, @Nullable Rejects rejects)
      throws IOException {
    Defect defect = bad.defect();
    String name = files.get(file).name();
    long line = linesOfFile + bad.line() + 1;
    String reason = bad.reason(options);
    if (rejects != null) {
      rejects.write(name + ":" + line, reason, chunk.bytes, bad.from(), bad.to());
    }
    if (options.onBadLine() == InputOptions.OnBadLine.FAIL || defect == Defect.TOO_LONG_FOR_HEAP) {
      throw new BadInputException(name, line, reason, defect.tip(options));
    }
    rejectedByDefect.merge(defect, 1L, Long::sum);
    rejected++;
  }

  long records() {
    return records;
  }

  /** The totals of all chunks entered so far. */
  InputReport report(long bytes) {
    Map<String, Long> byReason = new LinkedHashMap<>();
    rejectedByDefect.forEach((defect, count) -> byReason.put(defect.label(), count));
    return new InputReport(lines, records, byReason, rejected, bytes);
  }
}
