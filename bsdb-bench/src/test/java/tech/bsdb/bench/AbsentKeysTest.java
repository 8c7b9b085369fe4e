package tech.bsdb.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class AbsentKeysTest {
  @Test
  void aLongerKeyThanAnyNeedsNoLookUp() throws IOException {
    byte[][] present = FakeAnswers.keys(1000).present();
    byte[][] absent =
        AbsentKeys.like(
            present,
            9,
            key -> {
              throw new AssertionError("looked up");
            },
            1);
    assertThat(List.of(absent)).hasSize(1000).allMatch(key -> key.length == 10);
  }

  @Test
  void whereKeysAreLongTheyAreChangedUntilTheyAreAbsent() throws IOException {
    byte[][] present = FakeAnswers.keys(200).present();
    Set<String> refused = new TreeSet<>();
    byte[][] absent =
        AbsentKeys.like(
            present,
            5000,
            key -> {
              boolean there = (key[8] & 1) == 0; // a strange database: half of all keys
              if (there) {
                refused.add(HexFormat.of().formatHex(key));
              }
              return there ? new byte[0] : null;
            },
            1);
    assertThat(absent.length).isEqualTo(200);
    assertThat(refused).isNotEmpty();
    for (byte[] key : absent) {
      assertThat(key).hasSize(9);
      assertThat(refused).doesNotContain(HexFormat.of().formatHex(key));
    }
  }

  @Test
  void aDatabaseWithoutAbsentKeysIsAnError() {
    byte[][] present = FakeAnswers.keys(1).present();
    assertThatThrownBy(() -> AbsentKeys.like(present, 5000, key -> new byte[0], 1))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("--absent");
  }

  @Test
  void theSameSeedMakesTheSame() throws IOException {
    byte[][] present = FakeAnswers.keys(10).present();
    assertThat(AbsentKeys.like(present, 9, key -> null, 1))
        .isDeepEqualTo(AbsentKeys.like(present, 9, key -> null, 1));
  }
}
