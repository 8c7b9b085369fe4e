package tech.bsdb.spark;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which versions of Spark are refused. */
class SparkVersionsTest {
  @ParameterizedTest
  @ValueSource(strings = {"3.4.4", "3.4.1-amzn-0", "2.4.8", "3.0.0-preview2"})
  void olderOnesAreRefused(String version) {
    assertThatThrownBy(() -> SparkVersions.require(version))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessage("bsdb needs Spark 3.5 or 4.0 to 4.3; this is Spark " + version);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "3.5.0",
        "3.5.9",
        "3.5.1-amzn-0",
        "3.10.0",
        "4.0.0",
        "4.2.0-preview1",
        "4.3.0",
        "4.4.0-SNAPSHOT",
        "5.0.0",
        "10.0",
        "trunk"
      })
  void othersAreNot(String version) {
    assertThatCode(() -> SparkVersions.require(version)).doesNotThrowAnyException();
  }

  @Test
  void thisOneIsNot() {
    assertThatCode(SparkVersions::requireThis).doesNotThrowAnyException();
  }
}
