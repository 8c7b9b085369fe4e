package tech.bsdb.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.lookup.Lookup;

/** The joined orders of a base and of changes. */
class MergedKeysTest {
  private static final byte[] DELETION = {0};
  private static final byte[] VALUE = {1, 5};

  @TempDir Path directory;

  /** Builds an ordered database of some keys, and opens it. */
  private Lookup open(String name, Map<String, byte[]> records) throws IOException {
    Path target = directory.resolve(name);
    BuildOptions options = BuildOptions.defaults().withLayout(Layout.PACKED).withOrderedKeys(true);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (Map.Entry<String, byte[]> record : records.entrySet()) {
        builder.add(Truth.utf8(record.getKey()), record.getValue());
      }
      builder.finish();
    }
    return Lookup.open(target, EngineChoice.auto(), true);
  }

  private static List<String> all(Lookup base, Lookup changes, boolean deletions, long expected)
      throws IOException {
    List<String> keys = new ArrayList<>();
    try (MergedKeys merged = new MergedKeys(base, 0, changes, deletions, expected)) {
      for (byte[] key = merged.next(); key != null; key = merged.next()) {
        keys.add(new String(key, UTF_8));
      }
      assertThat(merged.next()).isNull();
    }
    return keys;
  }

  @Test
  void replacedKeysStayAddedOnesComeAndDeletedOnesGo() throws Exception {
    try (Lookup base = open("base", Map.of("b", VALUE, "d", VALUE, "f", VALUE));
        Lookup none = open("none", Map.of());
        Lookup changes =
            open(
                "changes",
                Map.of(
                    "a", VALUE, "b", VALUE, "c", DELETION, "d", DELETION, "e", VALUE, "g", DELETION,
                    "h", VALUE))) {
      assertThat(all(base, changes, true, 5)).containsExactly("a", "b", "e", "f", "h");
      assertThat(all(none, changes, true, 4)).containsExactly("a", "b", "e", "h");
      assertThat(all(base, none, false, 3)).containsExactly("b", "d", "f");
      assertThat(all(none, none, true, 0)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 5})
  void aBaseWhoseOrderLacksKeysOrHasOthersIsDamaged(long expected) throws Exception {
    try (Lookup base = open("base", Map.of("b", VALUE, "d", VALUE, "f", VALUE));
        Lookup changes = open("changes", Map.of("a", VALUE))) {
      assertThatThrownBy(() -> all(base, changes, false, expected))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining("order-")
          .hasMessageContaining(expected + " keys after the merge")
          .hasMessageContaining("4");
    }
  }
}
