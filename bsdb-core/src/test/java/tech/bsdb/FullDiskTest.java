package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A disk that is full at any moment of a build: the build says so, and leaves nothing but the old
 * database.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FullDiskTest {
  private static final long STEP = 96 << 10;

  /** What the disk grows by. */
  private static final long GROWTH = Rounds.longOrShort(1, 2) * STEP;

  @TempDir Path directory;

  private final Truth records = Truth.random(Seeds.random("FullDiskTest"), 9000, 100);
  private final Truth old = new Truth().add("old", "value");

  private static BuildOptions options(Layout layout) {
    return Truth.fitting(
        BuildOptions.defaults().withLayout(layout).withDictionaryBytes(2048).withDataFiles(2));
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPRESSED", "PACKED", "PACKED_COMPRESSED"})
  void aNewDatabaseOnDisksOfEverySize(Layout layout) throws Exception {
    int full = 0;
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), STEP)) {
      Path target = disk.directory().resolve("db");
      for (long size = STEP; ; size += GROWTH) {
        disk.resize(size);
        try {
          records.build(target, options(layout).withOrderedKeys(true));
          break;
        } catch (IOException e) {
          assertThat(e).hasStackTraceContaining("No space left on device");
          assertThat(Leaks.tree(disk.directory())).as("disk of %s bytes", size).isEmpty();
          Leaks.assertNone(directory);
          full++;
        }
      }
      records.check(target);
    }
    assertThat(full * GROWTH).isGreaterThan(4 * STEP);
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "PACKED_COMPRESSED"})
  void aNewSetOfShardsOnDisksOfEverySize(Layout layout) throws Exception {
    BuildOptions options = options(layout).withShards(3);
    int full = 0;
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), STEP)) {
      Path target = disk.directory().resolve("db");
      for (long size = STEP; ; size += GROWTH) {
        disk.resize(size);
        try {
          records.build(target, options);
          break;
        } catch (IOException e) {
          assertThat(e).hasStackTraceContaining("No space left on device");
          assertThat(Leaks.tree(disk.directory())).as("disk of %s bytes", size).isEmpty();
          Leaks.assertNone(directory);
          full++;
        }
      }
      records.build(directory.resolve("roomy"), options);
      assertThat(Leaks.tree(target)).isEqualTo(Leaks.tree(directory.resolve("roomy")));
    }
    assertThat(full * GROWTH).isGreaterThan(4 * STEP);
  }

  @Sampled(3)
  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPRESSED", "PACKED", "PACKED_COMPRESSED"})
  void anOldDatabaseOnDisksOfEverySize(Layout layout) throws Exception {
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), STEP)) {
      Path target = disk.directory().resolve("db");
      old.build(target, BuildOptions.defaults());
      List<String> before = Leaks.tree(disk.directory());
      for (long size = 2 * STEP; ; size += GROWTH) {
        disk.resize(size);
        try {
          records.build(target, options(layout).withOverwrite(true));
          break;
        } catch (IOException e) {
          assertThat(e).hasStackTraceContaining("No space left on device");
          assertThat(Leaks.tree(disk.directory())).as("disk of %s bytes", size).isEqualTo(before);
          old.check(target);
        }
      }
      records.check(target);
    }
  }

  @ParameterizedTest
  @CsvSource({"BLOCKED, 8", "PACKED, 0", "PACKED_COMPRESSED, 0"})
  void aTemporaryDirectoryThatIsFull(Layout layout, int width) throws Exception {
    for (int i = 0; i < 10; i++) { // packed records of some kilobytes would wait in memory
      records.add("long value " + i, "x".repeat(20_000));
    }
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), STEP)) {
      BuildOptions options =
          options(layout).withApproximateWidth(width).withTemporaryDirectory(disk.directory());
      assertThatThrownBy(() -> records.build(directory.resolve("db"), options))
          .isInstanceOf(IOException.class)
          .hasStackTraceContaining("No space left on device");
      assertThat(Leaks.tree(directory)).containsExactly("disk");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BLOCKED", "COMPRESSED", "PACKED", "PACKED_COMPRESSED"})
  void aBuildThatMetAFullDiskIsOverEvenIfThereIsRoomAgain(Layout layout) throws Exception {
    try (SmallDisk disk = SmallDisk.mount(directory.resolve("disk"), 64 * STEP)) {
      Path target = disk.directory().resolve("db");
      Path filler = disk.directory().resolve("filler");
      try (DatabaseBuilder builder =
          DatabaseBuilder.create(target, options(layout).withDuplicates(DuplicatePolicy.LAST))) {
        Files.write(filler, new byte[(int) (63 * STEP)]);
        int added = 0;
        boolean failed = false;
        for (Truth.Entry record : records.records()) {
          RecordBatch batch = builder.newBatch();
          batch.add(record.key(), 0, record.key().length, record.value(), 0, record.value().length);
          byte[] bulk = Truth.bytes(new java.util.SplittableRandom(added), 3000);
          byte[] key = Truth.utf8("bulk key that is longer than 30 bytes " + added++);
          batch.add(key, 0, key.length, bulk, 0, bulk.length);
          try {
            builder.add(batch);
          } catch (IOException e) {
            failed = true;
            break;
          } catch (IllegalStateException e) {
            throw new AssertionError("refused before it failed", e);
          }
          if (added == 5000) {
            break;
          }
        }
        assertThat(failed).as("the disk is full").isTrue();
        Files.delete(filler);
        assertThatThrownBy(
                () -> {
                  builder.add(new byte[1], new byte[1]);
                  builder.finish();
                })
            .isInstanceOf(IllegalStateException.class);
      }
      assertThat(Leaks.tree(disk.directory())).isEmpty();
    }
  }
}
