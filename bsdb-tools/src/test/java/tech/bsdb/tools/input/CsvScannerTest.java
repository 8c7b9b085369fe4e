package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.Rounds;
import tech.bsdb.tools.SeedInFailure;

/** Compares the scanner with another CSV reader, and with the rules of its class comment. */
@ExtendWith(SeedInFailure.class)
final class CsvScannerTest {
  private static final long SEED = SeedInFailure.SEED;

  /** Each character is a byte; the last three are never UTF-8 alone. */
  private static final String[] PIECES = {
    "\"",
    "\"",
    "\"\"",
    ",",
    ",",
    "\n",
    "\r\n",
    "\r",
    "a",
    "bcd",
    " ",
    "\u00C3\u00A9",
    "\u00FF",
    "\u00C3",
    "\u0080"
  };

  @Test
  void agreesWithTheCsvReaderOnEveryGoodRecord() {
    Random random = new Random(SEED);
    CsvScanner scanner = new CsvScanner(',');
    for (int round = 0; round < Rounds.of(40_000); round++) {
      byte[] bytes = randomBytes(random);
      int before = random.nextInt(3); // a record need not be at the start of the array
      byte[] moved = new byte[before + bytes.length + random.nextInt(3)];
      System.arraycopy(bytes, 0, moved, before, bytes.length);
      int to = before + bytes.length;
      for (int at = before; at < to; ) {
        int next = scanner.next(moved, at, to);
        String record = new String(moved, at, next - at, ISO_8859_1);
        String where = "round " + round + ": " + shown(record);
        Expected expected = Expected.of(new String(moved, at, to - at, ISO_8859_1));
        assertThat(next).as(where).isEqualTo(at + expected.end());
        assertThat(scanner.lines())
            .as(where)
            .isEqualTo(
                (int) record.chars().filter(c -> c == '\n').count()
                    + (record.endsWith("\n") ? 0 : 1));
        String text = record.replaceFirst("\r?\n\\z", "");
        assertThat(scanner.textEnd()).as(where).isEqualTo(at + text.length());
        Defect defect = scanner.defect(true);
        assertThat(defect).as(where).isEqualTo(expected.defect());
        List<CsvRecord> seen = read(record);
        if (defect == null) {
          assertThat(seen).as(where).hasSize(1);
          assertThat(fields(scanner)).as(where).isEqualTo(seen.get(0).getFields());
          assertThat(scanner.defect(false))
              .as(where)
              .isEqualTo(isUtf8(text) ? null : Defect.INVALID_ENCODING);
        } else if (defect == Defect.TEXT_AFTER_QUOTE || defect == Defect.UNCLOSED_QUOTE) {
          assertThat(seen).as(where).isNull();
        }
        at = next;
      }
    }
  }

  @Test
  void findsTheSameEndsPieceByPieceAsRecordByRecord() {
    Random random = new Random(SEED);
    for (int round = 0; round < Rounds.of(20_000); round++) {
      byte[] bytes = randomBytes(random);
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
      String where = "round " + round + ": " + shown(new String(bytes, ISO_8859_1));
      assertThat(found).as(where).isEqualTo(ends);
      int last = ends.isEmpty() ? -1 : ends.get(ends.size() - 1);
      assertThat(new CsvScanner(',').lastEnd(bytes, 0, bytes.length)).as(where).isEqualTo(last);
      List<Integer> read = new ArrayList<>();
      for (int at = 0; at < bytes.length; ) {
        at = new CsvScanner(',').next(bytes, at, bytes.length);
        read.add(at);
      }
      if (last != bytes.length && bytes.length > 0) {
        ends.add(bytes.length); // the end of a file ends a record, too
      }
      assertThat(read).as(where).isEqualTo(ends);
    }
  }

  @Test
  void aRecordOfManyLongFieldsIsRead() {
    byte[] bytes = ("\"" + "x\"\"y".repeat(500_000) + "\",,z\n").repeat(2).getBytes(ISO_8859_1);
    byte[] many = ("a,\"b\"\"\",".repeat(50_000) + "c").getBytes(ISO_8859_1);
    CsvScanner scanner = new CsvScanner(',');
    int next = scanner.next(bytes, 0, bytes.length);
    assertThat(next).isEqualTo(bytes.length / 2);
    assertThat(fields(scanner)).containsExactly("x\"y".repeat(500_000), "", "z");
    assertThat(scanner.next(many, 0, many.length)).isEqualTo(many.length);
    assertThat(scanner.fields()).isEqualTo(100_001);
    assertThat(fields(scanner).subList(99_998, 100_001)).containsExactly("a", "b\"", "c");
  }

  private static byte[] randomBytes(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(25); i > 0; i--) {
      text.append(PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString().getBytes(ISO_8859_1);
  }

  /** Where the first record ends, with its line end, and its defect. */
  private record Expected(int end, @Nullable Defect defect) {
    static Expected of(String text) {
      boolean atStart = true;
      boolean quoted = false;
      boolean closed = false;
      boolean returned = false;
      Defect defect = null;
      for (int at = 0; at < text.length(); at++) {
        char next = text.charAt(at);
        if (quoted) {
          closed = next == '"';
          quoted = !closed;
        } else if (next == '\n') {
          boolean empty = at == (returned ? 1 : 0);
          return new Expected(at + 1, empty ? Defect.EMPTY_LINE : defect);
        } else if (returned && defect == null) {
          defect = Defect.LONE_CARRIAGE_RETURN;
        } else if (next == '"' && (atStart || closed) && defect == null) {
          quoted = true;
          atStart = false;
        } else if (next == '\r' && defect == null) {
          returned = true;
        } else if (next == ',') {
          atStart = true;
          closed = false;
        } else {
          defect = closed && defect == null ? Defect.TEXT_AFTER_QUOTE : defect;
          atStart = false;
        }
      }
      if (quoted) {
        defect = Defect.UNCLOSED_QUOTE;
      } else if (returned && defect == null) {
        defect = Defect.LONE_CARRIAGE_RETURN;
      }
      return new Expected(text.length(), defect);
    }
  }

  private static List<String> fields(CsvScanner scanner) {
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < scanner.fields(); i++) {
      fields.add(new String(scanner.bytes(i), scanner.from(i), scanner.length(i), ISO_8859_1));
    }
    return fields;
  }

  private static boolean isUtf8(String bytes) {
    String decoded = new String(bytes.getBytes(ISO_8859_1), UTF_8);
    return decoded.indexOf('\uFFFD') < 0;
  }

  private static String shown(String record) {
    return record.replace("\n", "\\n").replace("\r", "\\r");
  }

  /** The records that the reader finds, or null if it rejects the text. */
  private static @Nullable List<CsvRecord> read(String text) {
    try {
      return CsvReader.builder()
          .skipEmptyLines(false)
          .allowUnclosedQuote(false)
          .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
          .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
          .ofCsvRecord(text)
          .stream()
          .toList();
    } catch (CsvParseException broken) {
      return null;
    }
  }
}
