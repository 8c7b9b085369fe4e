package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;

/** The order of keys that are known in order, which is not taken on trust. */
class OrderStageTest {
  @TempDir Path directory;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** Writes the order of keys of a packed database that has so many. */
  private Assembled order(long records, String... sorted) throws Exception {
    BuildOptions options =
        BuildOptions.defaults().withLayout(Layout.PACKED).withMemoryBytes(1 << 20).withThreads(1);
    RecordTotals totals = new RecordTotals();
    for (long i = 0; i < records; i++) {
      totals.add(1, 0);
    }
    Path own = Files.createTempDirectory(directory, "build");
    Iterator<String> keys = List.of(sorted).iterator();
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        Resources resources = new Resources()) {
      OrderStage stage =
          new OrderStage(
              new Assembled(
                  records, 0, 0, 0, new Facts.Bins(1, false, null), null, null, List.of()),
              totals,
              new BuildPlace(own, own),
              chunk,
              options,
              new Unwatched());
      return stage.add(
          resources, () -> keys.hasNext() ? keys.next().getBytes(StandardCharsets.UTF_8) : null);
    }
  }

  @Test
  void theOrderOfAPackedDatabaseHasNoAddresses() throws Exception {
    assertThat(order(3, "", "a", "b").order())
        .isEqualTo(new Facts.Order(List.of(1L), AddressBits.NONE));
  }

  @Test
  void keysThatAreNotGreaterThanTheLastOneAreRefused() {
    assertThatThrownBy(() -> order(3, "a", "b", "b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("two keys in order are equal");
    assertThatThrownBy(() -> order(3, "a", "c", "b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("keys are not in ascending order");
  }

  @Test
  void keysThatAreTooFewOrTooManyAreRefused() {
    assertThatThrownBy(() -> order(3, "a", "b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("2 keys in order, but 3 in the database");
    assertThatThrownBy(() -> order(1, "a", "b"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("2 keys in order, but 1 in the database");
  }
}
