package tech.bsdb.tools;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class SeedInFailureTest {
  @Test
  void exceptionsAndAssertionsReportTheSeedAndKeepTheirCause() {
    for (Throwable thrown :
        new Throwable[] {new IllegalStateException("x"), new AssertionError()}) {
      assertThat(SeedInFailure.withSeed(thrown))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("-Dbsdb.seed=" + SeedInFailure.SEED)
          .hasCause(thrown);
    }
    TestAbortedException left = new TestAbortedException();
    assertThat(SeedInFailure.withSeed(left)).isSameAs(left);
  }
}
