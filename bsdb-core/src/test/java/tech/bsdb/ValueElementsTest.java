package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.CorruptDatabaseException;

/** Databases whose values are vectors of one length. */
class ValueElementsTest {
  private static final ValueElements VECTOR = new ValueElements(ValueElements.Type.F32, 6);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ValueElementsTest");

  private Truth vectors(int count) {
    Truth truth = new Truth();
    for (int i = 0; i < count; i++) {
      truth.add(Truth.utf8("key " + i), Truth.bytes(random, VECTOR.bytes()));
    }
    return truth;
  }

  private static BuildOptions options(Layout layout) {
    return BuildOptions.defaults().withLayout(layout).withValueElements(VECTOR);
  }

  @ParameterizedTest
  @EnumSource
  void theElementsAreStoredAndMergesKeepThem(Layout layout) throws Exception {
    Truth truth = vectors(500);
    Path base = directory.resolve("base");
    Path target = directory.resolve("target");
    truth.build(base, options(layout).withShards(2));
    assertThat(Database.statistics(base).valueElements()).isEqualTo(VECTOR);
    assertThat(Database.verify(base, (done, all) -> {}).records()).isEqualTo(500);
    byte[] more = new byte[VECTOR.bytes()];
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, target)) {
      assertThatThrownBy(() -> builder.add(Truth.utf8("new"), new byte[6]))
          .isInstanceOf(IllegalArgumentException.class);
      builder.add(Truth.utf8("new"), more);
      builder.delete(Truth.utf8("none"));
      builder.finish();
    }
    truth.add(Truth.utf8("new"), more);
    try (Database database = Database.open(target)) {
      truth.checkGets(database);
    }
    assertThat(Database.verify(target, (done, all) -> {}).records()).isEqualTo(501);
    assertThat(Database.statistics(target).valueElements()).isEqualTo(VECTOR);
    for (Path shard : Forgery.shards(target)) {
      assertThat(Forgery.lines(shard)).contains("value.elements=f32 6");
    }
  }

  @Test
  void aValueOfAnotherLengthIsRefusedAndTheBuildGoesOn() throws Exception {
    Path target = directory.resolve("db");
    Truth truth = vectors(10);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options(Layout.PACKED))) {
      for (int length : new int[] {0, 23, 25, 70_000}) {
        assertThatThrownBy(() -> builder.add(Truth.utf8("short"), new byte[length]))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessage(
                "the value of the key \"short\" has "
                    + length
                    + " bytes, but valueElements of f32 6 are 24");
      }
      RecordBatch batch = builder.newBatch();
      assertThatThrownBy(() -> batch.add(new byte[3], 1, 2, new byte[30], 0, 30))
          .hasMessageContaining("key 0x0000 has 30 bytes");
      assertThatThrownBy(() -> builder.add(new RecordBatch()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("f32 6");
      builder.add(batch);
      for (Truth.Entry record : truth.records()) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
    truth.check(target);
  }

  @Test
  void otherKindsOfDatabasesRefuseElements() {
    Path target = directory.resolve("db");
    for (BuildOptions options :
        List.of(
            BuildOptions.defaults().withValueElements(VECTOR).withApproximateWidth(30),
            options(Layout.PACKED).withValueSchema("{}"))) {
      assertThatThrownBy(() -> DatabaseBuilder.create(target, options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching("valueElements and (approximateWidth|valueSchema) are set: .*");
    }
    assertThat(target).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource
  void verifyFindsValuesOfAnotherLength(Layout layout) throws Exception {
    Path plain = directory.resolve("plain");
    vectors(10)
        .add(Truth.utf8("longer"), new byte[25])
        .build(plain, BuildOptions.defaults().withLayout(layout));
    List<String> lines = Forgery.lines(plain);
    lines.add("value.elements=f32 6");
    Path forged = Files.createDirectory(directory.resolve("forged"));
    Forgery.database(plain, lines, forged);
    assertThatThrownBy(() -> Database.verify(forged, (done, all) -> {}))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("a value of 24 bytes, f32 6")
        .hasMessageContaining("25");
  }

  @ParameterizedTest
  @CsvSource({"F16, 0", "U8, -1", "F64, 268435455"})
  void elementsThatNoValueCanHaveAreRefused(ValueElements.Type type, int count) {
    assertThatThrownBy(() -> new ValueElements(type, count))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("count is " + count);
  }
}
