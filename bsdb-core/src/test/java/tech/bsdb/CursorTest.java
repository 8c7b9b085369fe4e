package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The life of a scan. */
class CursorTest {
  @TempDir Path directory;

  private final Truth truth = Truth.random(Seeds.random("CursorTest"), 20_000, 40);

  private Path build(Layout layout) throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout).withDictionaryBytes(4096));
    return target;
  }

  @ParameterizedTest
  @EnumSource
  void itLivesOnWhenTheDatabaseIsClosed(Layout layout) throws Exception {
    Database database = Database.open(build(layout));
    List<Truth.Entry> expected = Truth.inScanOrder(truth.records(), database);
    try (Database.RecordCursor cursor = database.scan()) {
      database.close();
      for (Truth.Entry record : expected) {
        assertThat(cursor.next()).isTrue();
        assertThat(cursor.key()).isEqualTo(record.key());
      }
      assertThat(cursor.next()).isFalse();
      assertThat(cursor.next()).isFalse();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClosedOneIsRefusedAndMayBeClosedAgain(Layout layout) throws Exception {
    try (Database database = Database.open(build(layout))) {
      Database.RecordCursor cursor = database.scan();
      assertThat(cursor.next()).isTrue();
      cursor.close();
      cursor.close();
      for (int i = 0; i < 2000; i++) {
        assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED", "PACKED_COMPRESSED"})
  void severalWalkAtOnce(Layout layout) throws Exception {
    try (Database database = Database.open(build(layout));
        Database.RecordCursor one = database.scan();
        Database.RecordCursor two = database.scan()) {
      List<Truth.Entry> expected = Truth.inScanOrder(truth.records(), database);
      for (int i = 0; i < 100; i++) {
        assertThat(one.next()).isTrue();
      }
      assertThat(two.next()).isTrue();
      assertThat(one.key()).isEqualTo(expected.get(99).key());
      assertThat(two.key()).isEqualTo(expected.get(0).key());
    }
  }

  @Test
  void anApproximateDatabaseHasNone() throws Exception {
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withApproximateWidth(4));
    try (Database database = Database.open(target)) {
      assertThatThrownBy(database::scan)
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("approximate");
    }
  }
}
