package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import tech.bsdb.tools.input.InputException;

/** A directory of an object store. */
class ObjectStoreDirectoryTest extends DistantDirectoryContract {
  @Override
  DistantDirectory fresh() throws IOException {
    FaultyStore.reset();
    return DistantDirectory.open("faulty://store/users", FaultyStore.options());
  }

  @Test
  void aFileThatFailsAtAnyStepDoesNotAppear() throws Exception {
    try (DistantDirectory directory = fresh()) {
      for (int step = 1; step <= 5; step++) {
        int failing = step;
        FaultyStore.fail(now -> now == failing);
        assertThatThrownBy(() -> directory.write("f", new ByteArrayInputStream(new byte[600_000])))
            .hasMessageStartingWith("connection reset");
        assertThat(FaultyStore.FILES).isEmpty();
      }
      FaultyStore.repair();
      directory.write("f", new ByteArrayInputStream(new byte[600_000]));
      assertThat(FaultyStore.FILES).containsOnlyKeys("/users/f");
    }
  }

  @Test
  void anUnknownSchemeIsExplained() {
    assertThatThrownBy(() -> DistantDirectory.open("s3a://bucket/users", FileSourceOptions.local()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("fetch-s3");
    assertThatThrownBy(() -> DistantDirectory.open("hdfs:///users", FileSourceOptions.local()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no name node");
  }
}
