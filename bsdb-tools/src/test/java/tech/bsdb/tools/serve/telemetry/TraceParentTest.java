package tech.bsdb.tools.serve.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentTest {
  private static final String ID = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String REST = ID + "-00f067aa0ba902b7-01";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "00-" + REST,
        "00-" + ID + "-00f067aa0ba902b7-00",
        "00-" + ID + "-00f067aa0ba902b7-ff",
        "01-" + REST,
        "cc-" + REST + "-what-the-future-will-be-like",
        "fe-" + REST + "-",
      })
  void hasATraceId(String header) {
    assertThat(TraceParent.traceId(List.of(header))).isEqualTo(ID);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        REST,
        "00-" + REST + "-",
        "00-" + REST + "-more",
        "00-" + REST + ".",
        "01-" + REST + ".more",
        "ff-" + REST,
        "0-" + REST,
        "000-" + REST,
        "FE-" + REST,
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47360-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473x-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-" + ID + "-0000000000000000-01",
        "00-" + ID + "-00F067AA0BA902B7-01",
        "00-" + ID + "-00f067aa0ba902b7-1",
        "00-" + ID + "-00f067aa0ba902b7-0x",
        "00-" + ID + "-00f067aa0ba902b7",
        "00_" + ID + "_00f067aa0ba902b7_01",
        " 00-" + REST,
        "00-" + REST + ",00-" + REST,
      })
  void isIgnored(String header) {
    assertThat(TraceParent.traceId(List.of(header))).isEmpty();
  }

  @Test
  void severalAreIgnored() {
    assertThat(TraceParent.traceId(List.of())).isEmpty();
    assertThat(TraceParent.traceId(List.of("00-" + REST, "00-" + REST))).isEmpty();
  }
}
