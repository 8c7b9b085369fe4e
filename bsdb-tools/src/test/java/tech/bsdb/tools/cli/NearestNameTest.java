package tech.bsdb.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NearestNameTest {
  private static final List<String> NAMES =
      List.of("build", "build-parquet", "get", "scan", "verify");

  @Test
  void typosAreCorrected() {
    assertThat(NearestName.to("biuld", NAMES)).contains("build");
    assertThat(NearestName.to("scna", NAMES)).contains("scan");
    assertThat(NearestName.to("gett", NAMES)).contains("get");
    assertThat(NearestName.to("verfiy", NAMES)).contains("verify");
    assertThat(NearestName.to("buildparquet", NAMES)).contains("build-parquet");
  }

  @Test
  void prefixesAreCompleted() {
    assertThat(NearestName.to("ver", NAMES)).contains("verify");
  }

  @Test
  void tooFewLettersMatchNothing() {
    assertThat(NearestName.to("", NAMES)).isEmpty();
    assertThat(NearestName.to("x", NAMES)).isEmpty();
    assertThat(NearestName.to("xy", NAMES)).isEmpty();
    assertThat(NearestName.to("frobnicate", NAMES)).isEmpty();
  }
}
