package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Manifest;

/** Every kind is found by its name, and an unknown one is refused by name. */
class HashKindsTest {
  private static final Path FILE = Path.of("db", Manifest.FILE_NAME);

  private static Manifest naming(String kind) {
    return new Manifest.Builder().put("hash.kind", kind).build();
  }

  @ParameterizedTest
  @FieldSource("tech.bsdb.hash.HashKinds#ALL")
  void aKindIsFoundByItsName(HashKind kind) throws Exception {
    assertThat(HashKinds.named(kind.name())).isSameAs(kind);
    assertThat(HashKinds.of(FILE, naming(kind.name()))).isSameAs(kind);
  }

  @Test
  void theKindsOfBuildsAreReadable() {
    assertThat(HashKinds.ALL).contains(HashKinds.GOV, HashKinds.PTR);
  }

  @Test
  void namesOfDatabasesInUseStay() {
    assertThat(HashKinds.ALL).extracting(HashKind::name).contains("gov3-bucketed", "ptr");
  }

  @Test
  void anUnknownKindIsRefused() {
    assertThat(HashKinds.named("other")).isNull();
    assertThatThrownBy(() -> HashKinds.of(FILE, naming("other")))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageStartingWith(
            FILE + ": hash function other; this version reads gov3-bucketed or ptr")
        .hasMessageEndingWith(" (use a newer bsdb)");
  }

  @Test
  void aManifestWithoutAKindIsRefused() {
    assertThatThrownBy(() -> HashKinds.of(FILE, new Manifest.Builder().build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("hash.kind");
  }
}
