package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Parts of scans: together they have every record once. */
class ScanPartsTest {
  @TempDir Path directory;

  private int built;

  private Path build(int records, int longest, BuildOptions options) throws IOException {
    Path target = directory.resolve("db" + built++);
    Random random = new Random(records);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < records; i++) {
        boolean large = random.nextInt(10) == 0;
        byte[] value = new byte[random.nextInt(large ? longest : 60)];
        random.nextBytes(value);
        builder.add(("key " + i).getBytes(UTF_8), value);
      }
      builder.finish();
    }
    return target;
  }

  private static List<Integer> assertOnce(Path path, int records, int parts) throws IOException {
    List<Integer> sizes = new ArrayList<>();
    Map<String, byte[]> found = new HashMap<>();
    try (Database database = Database.open(path)) {
      for (int part = 0; part < parts; part++) {
        int size = 0;
        ScanOptions options = ScanOptions.defaults().withPart(part, parts);
        try (Database.RecordCursor values = database.scan(options);
            Database.RecordCursor keys = database.scan(options.withValues(false))) {
          while (values.next()) {
            assertThat(keys.next()).isTrue();
            assertThat(keys.key()).isEqualTo(values.key());
            assertThat(found.put(new String(values.key(), UTF_8), values.value())).isNull();
            size++;
          }
          assertThat(keys.next()).isFalse();
          assertThatThrownBy(keys::value).isInstanceOf(IllegalStateException.class);
        }
        sizes.add(size);
      }
      assertThat(found).hasSize(records);
      for (Map.Entry<String, byte[]> record : found.entrySet()) {
        assertThat(database.get(record.getKey().getBytes(UTF_8))).isEqualTo(record.getValue());
      }
    }
    return sizes;
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(Layout.class)
  void everyLayout(Layout layout) throws IOException {
    BuildOptions options = BuildOptions.defaults().withLayout(layout);
    for (int records : new int[] {0, 1, 2, 500}) {
      Path path = build(records, 30_000, options);
      for (int parts : new int[] {1, 2, 3, 7, 64, 5_000}) {
        if (parts < 1_000 || records == 2) {
          assertOnce(path, records, parts);
        }
      }
    }
    List<Integer> sizes = assertOnce(build(20_000, 60, options), 20_000, 4);
    assertThat(sizes).allMatch(size -> size > 2_000);
  }

  @Sampled(2)
  @ParameterizedTest
  @EnumSource(Layout.class)
  void setsSeveralFilesAndDroppedDuplicates(Layout layout) throws IOException {
    BuildOptions options = BuildOptions.defaults().withLayout(layout);
    assertOnce(build(600, 9_000, options.withShards(3)), 600, 5);
    assertOnce(build(600, 90_000, options.withDataFiles(3)), 600, 5);
    Path target = directory.resolve("dropped");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options.withDuplicates(DuplicatePolicy.FIRST))) {
      for (int i = 0; i < 400; i++) {
        builder.add(("key " + i % 150).getBytes(UTF_8), ("value " + i).getBytes(UTF_8));
      }
      builder.finish();
    }
    assertOnce(target, 150, 6);
  }

  @Test
  void thereIsNoPartBeyondTheLast() {
    ScanOptions options = ScanOptions.defaults();
    assertThatThrownBy(() -> options.withPart(2, 2)).hasMessageContaining("part 2 of 2");
    assertThatThrownBy(() -> options.withPart(-1, 2)).hasMessageContaining("part -1 of 2");
    assertThatThrownBy(() -> options.withPart(0, 0)).hasMessageContaining("of 0");
  }
}
