package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Manifest;

/** Every kind is found by its name, and an unknown one is refused by name. */
class HashKindTest {
  private static final Path FILE = Path.of("db", Manifest.FILE_NAME);

  private static Manifest naming(String kind) {
    return new Manifest.Builder().put("hash.kind", kind).build();
  }

  @ParameterizedTest
  @EnumSource
  void aKindIsFoundByItsName(HashKind kind) throws Exception {
    assertThat(HashKind.of(FILE, naming(kind.id()))).isSameAs(kind);
  }

  @Test
  void namesOfDatabasesInUseStay() {
    assertThat(HashKind.values()).extracting(HashKind::id).contains("gov3-bucketed", "ptr");
  }

  @Test
  void anUnknownKindIsRefused() {
    assertThatThrownBy(() -> HashKind.of(FILE, naming("other")))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageStartingWith(
            FILE + ": hash function other; this version reads gov3-bucketed or ptr")
        .hasMessageEndingWith(" (use a newer bsdb)");
  }

  @Test
  void aManifestWithoutAKindIsRefused() {
    assertThatThrownBy(() -> HashKind.of(FILE, new Manifest.Builder().build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("hash.kind");
  }
}
