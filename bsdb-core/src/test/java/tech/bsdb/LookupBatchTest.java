package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A batch has the answers of its last lookup, or none. */
class LookupBatchTest {
  @TempDir Path folder;

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void aFailedLookupLeavesNoAnswers(OpenOptions.Engine engine) throws IOException {
    Path path = folder.resolve("database");
    new Truth().add("one", "the first").build(path, BuildOptions.defaults());
    Database database = Database.open(path, OpenOptions.defaults().withEngine(engine));
    LookupBatch batch = database.batch();
    batch.add(Truth.utf8("one"));
    batch.get();
    assertThat(batch.value(0)).isEqualTo(Truth.utf8("the first"));

    database.close();

    assertThatThrownBy(batch::get)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
    assertThatThrownBy(() -> batch.isPresent(0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no answers");
  }
}
