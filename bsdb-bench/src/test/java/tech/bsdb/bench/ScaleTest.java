package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScaleTest {
  @ParameterizedTest
  @CsvSource({"1, 1", "90, 110", "300, 700", "300, 90000", "1, 3e12", "999, 1001", "5, 10"})
  void logarithmicAxesHoldTheirValues(double least, double greatest) {
    Scale scale = Scale.logarithmic(least, greatest, Quantity::axisTime);
    assertThat(scale.place().applyAsDouble(least)).isBetween(-1e-6, 1 + 1e-6);
    assertThat(scale.place().applyAsDouble(greatest)).isBetween(-1e-6, 1 + 1e-6);
    assertThat(scale.ticks()).hasSizeBetween(2, 14);
    assertThat(scale.ticks()).allMatch(tick -> tick.at() > -1e-6 && tick.at() < 1 + 1e-6);
  }

  @Test
  void linearAxesEndAtARoundNumber() {
    Scale scale = Scale.fromZero(198_067, Quantity::brief);
    assertThat(scale.ticks())
        .extracting(Scale.Tick::label)
        .containsExactly("0", "50K", "100K", "150K", "200K");
    assertThat(scale.place().applyAsDouble(100_000)).isCloseTo(0.5, within(1e-9));
  }

  @Test
  void ninesAreAtEqualDistances() {
    Scale scale = Scale.nines(1_000);
    assertThat(scale.place().applyAsDouble(90)).isCloseTo(1 / 3.0, within(1e-6));
    assertThat(scale.place().applyAsDouble(99)).isCloseTo(2 / 3.0, within(1e-6));
    assertThat(scale.ticks()).hasSize(4);
  }

  @Test
  void stepsAreAtEqualDistances() {
    Scale scale = Scale.steps(List.of(4, 1, 2, 2));
    assertThat(scale.place().applyAsDouble(2)).isCloseTo(0.5, within(1e-9));
    assertThat(scale.ticks()).extracting(Scale.Tick::label).containsExactly("1", "2", "4");
  }

  @ParameterizedTest
  @CsvSource({
    "385, 385 ns",
    "999.6, 1.00 µs",
    "12345, 12.3 µs",
    "4.56e6, 4.56 ms",
    "1.2e9, 1.20 s"
  })
  void timesAreShort(double nanos, String expected) {
    assertThat(Quantity.time(nanos)).isEqualTo(expected);
  }
}
