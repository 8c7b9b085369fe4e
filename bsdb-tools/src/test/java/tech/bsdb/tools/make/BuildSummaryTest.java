package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.Reports;
import tech.bsdb.tools.input.InputReport;

class BuildSummaryTest {
  private static final BuildSummary SUMMARY = summary();

  @Test
  void theTextReportAccountsForEveryLine() {
    assertThat(SUMMARY.forPeople())
        .isEqualTo(
            """
            built rdb: 1,000,000 records in 2.0 s (500,000 records/s)
              lines read                  1,000,006
              records written             1,000,000
              rejected                    3  (no separator: 2, empty key: 1)
              duplicates dropped          3
              values cut                  5
              bytes read                  40,000,000
              bytes written               61,000,000
                data-0                    60,000,000
                index                     1,000,000
              seconds                     records 1.2, index 0.8
              peak heap                   100 MB\
            """);
  }

  @Test
  void theJsonReportHasPlainNumbers() {
    Map<String, Object> json = SUMMARY.forPrograms();

    assertThat(json)
        .containsEntry("records", 1_000_000L)
        .containsEntry("rejected", 3L)
        .containsEntry("lines", 1_000_006L)
        .containsEntry("duplicatesDropped", 3L)
        .containsEntry("recordsPerSecond", 500_000L)
        .containsEntry("peakHeapBytes", 100L << 20);
    assertThat(json.get("rejectedByReason")).isEqualTo(Map.of("no separator", 2L, "empty key", 1L));
  }

  @Test
  void peakHeapIsMeasured() {
    assertThat(BuildSummary.peakHeap())
        .isPositive()
        .isLessThan(2 * Runtime.getRuntime().maxMemory());
  }

  private static BuildSummary summary() {
    Map<String, Long> reasons = new LinkedHashMap<>();
    reasons.put("no separator", 2L);
    reasons.put("empty key", 1L);
    Map<String, Long> files = new LinkedHashMap<>();
    files.put("data-0", 60_000_000L);
    files.put("index", 1_000_000L);
    Map<Stage, Double> seconds = new EnumMap<>(Stage.class);
    seconds.put(Stage.RECORDS, 1.2);
    seconds.put(Stage.INDEX, 0.8);
    return new BuildSummary(
        "lines",
        new InputReport(1_000_006, 1_000_003, reasons, 3, 40_000_000),
        Reports.build(files, seconds),
        2.0,
        100L << 20);
  }
}
