package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.input.Parsed.Reason;

final class LedgerTest {
  private static final byte[] KEY = {'k'};

  @TempDir Path directory;

  /** Rows: '+' is a record, each other character the label of what is not. */
  private static final class Rows extends Parsed {
    Rows(String rows, boolean stops) throws IOException {
      super(Batch.copying((key, keyFrom, keyLength, value, valueFrom, valueLength) -> {}));
      for (int i = 0; i < rows.length(); i++) {
        char row = rows.charAt(i);
        if (row == '+') {
          records().visit(KEY, 0, 1, KEY, 0, 1);
          addGoodRow();
        } else {
          addBadRow(new Reason(String.valueOf(row), "is " + row, "try x", stops));
        }
      }
    }
  }

  @Test
  void placesGoOnFromPieceToPieceAndBeginAnewInEachFile() throws IOException {
    Ledger ledger = new Ledger(List.of("one", "none", "two"), ": row ", List.of());
    ledger.enter(0, new Rows("+-+", false), null);
    ledger.enter(0, new Rows("--", false), null);
    ledger.enter(0, new Rows("-++", false), null);
    ledger.enter(2, new Rows("++-", false), null);
    assertThat(ledger.records()).isEqualTo(6);
    List<String> places =
        List.of("one: row 1", "one: row 3", "one: row 7", "one: row 8", "two: row 1", "two: row 2");
    for (int record = 0; record < places.size(); record++) {
      assertThat(ledger.place(record)).isEqualTo(places.get(record));
    }
    assertThat(ledger.place(6)).isNull();
    assertThat(ledger.place(-1)).isNull();
    InputReport report = ledger.report(77);
    assertThat(report.lines()).isEqualTo(11);
    assertThat(report.records()).isEqualTo(6);
    assertThat(report.rejected()).isEqualTo(5);
    assertThat(report.bytes()).isEqualTo(77);
  }

  @Test
  void reasonsComeInTheOrderGivenAndThenInThatOfTheAlphabet() throws IOException {
    Ledger ledger = new Ledger(List.of("file"), ":", List.of("z", "y", "b"));
    ledger.enter(0, new Rows("cabbz+c", false), null);
    InputReport report = ledger.report(0);
    assertThat(report.rejectedByReason().keySet()).containsExactly("z", "b", "a", "c");
    assertThat(report.rejectedByReason().values()).containsExactly(1L, 2L, 1L, 2L);
    assertThat(report.rejected()).isEqualTo(6);
  }

  @Test
  void whatStopsTheReadingIsAmongTheRejectsAndNamesItsPlace() throws IOException {
    Ledger ledger = new Ledger(List.of("file"), ":", List.of());
    Path file = directory.resolve("rejects");
    Rejects rejects = Rejects.open(file, false);
    try (rejects) {
      ledger.enter(0, new Rows("+a", false), rejects);
      assertThatThrownBy(() -> ledger.enter(0, new Rows("+b+", true), rejects))
          .isInstanceOfSatisfying(
              BadInputException.class, bad -> assertThat(bad.line()).isEqualTo(4))
          .hasMessage("file:4: is b (try x)");
    }
    rejects.publish();
    assertThat(Files.readString(file, UTF_8)).isEqualTo("file:2: is a\nfile:4: is b\n");
  }
}
