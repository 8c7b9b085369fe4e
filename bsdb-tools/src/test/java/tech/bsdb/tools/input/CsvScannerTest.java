package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;

@ExtendWith(SeedInFailure.class)
final class CsvScannerTest {
  private static final long SEED = SeedInFailure.SEED;

  @Test
  void agreesWithTheCsvReaderOnEveryGoodRecord() {
    Random random = new Random(SEED);
    for (int round = 0; round < 20_000; round++) {
      String text = randomText(random);
      byte[] bytes = text.getBytes(UTF_8);
      CsvScanner scanner = new CsvScanner(',');
      int line = 1;
      for (int at = 0; at < bytes.length; ) {
        int end = scanner.firstEnd(bytes, at, bytes.length);
        if (end < 0) {
          end = bytes.length;
          scanner.end(bytes[end - 1]);
        }
        String record = new String(bytes, at, end - at, UTF_8);
        String where =
            "seed "
                + SEED
                + " round "
                + round
                + ": "
                + record.replace("\n", "\\n").replace("\r", "\\r");
        assertThat(scanner.lines())
            .as(where)
            .isEqualTo(
                (int) record.chars().filter(c -> c == '\n').count()
                    + (record.endsWith("\n") ? 0 : 1));
        List<CsvRecord> seen = read(record);
        if (scanner.defect() == null) {
          assertThat(seen).as(where).hasSize(1);
        } else if (scanner.defect() != Defect.LONE_CARRIAGE_RETURN) {
          assertThat(seen).as(where).isNull();
        }
        line += scanner.lines();
        at = end;
      }
      assertThat(line).isPositive();
    }
  }

  @Test
  void findsTheSameEndsPieceByPiece() {
    Random random = new Random(SEED);
    for (int round = 0; round < 5000; round++) {
      byte[] bytes = randomText(random).getBytes(UTF_8);
      List<Integer> ends = new ArrayList<>();
      CsvScanner whole = new CsvScanner(',');
      for (int end = whole.firstEnd(bytes, 0, bytes.length); end >= 0; ) {
        ends.add(end);
        end = whole.firstEnd(bytes, end, bytes.length);
      }
      CsvScanner pieces = new CsvScanner(',');
      List<Integer> found = new ArrayList<>();
      for (int at = 0; at < bytes.length; at++) {
        if (pieces.lastEnd(bytes, at, at + 1) >= 0) {
          found.add(at + 1);
        }
      }
      assertThat(found).as("seed " + SEED + " round " + round).isEqualTo(ends);
      assertThat(new CsvScanner(',').lastEnd(bytes, 0, bytes.length))
          .isEqualTo(ends.isEmpty() ? -1 : ends.get(ends.size() - 1));
    }
  }

  private static String randomText(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(25); i > 0; i--) {
      text.append(
          new String[] {"\"", "\"", "\"\"", ",", "\n", "\r\n", "\r", "a", "é", " "}
              [random.nextInt(10)]);
    }
    return text.toString();
  }

  /** The records that the reader finds, or null if it rejects the text. */
  private static List<CsvRecord> read(String text) {
    try {
      return CsvReader.builder()
          .skipEmptyLines(false)
          .allowUnclosedQuote(false)
          .ofCsvRecord(text)
          .stream()
          .toList();
    } catch (CsvParseException broken) {
      return null;
    }
  }
}
