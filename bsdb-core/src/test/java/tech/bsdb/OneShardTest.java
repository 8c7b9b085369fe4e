package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.ForeignRecordException;

/** Shards that are built alone and joined are the set that one build writes. */
class OneShardTest {
  private static final int SHARDS = 3;
  private static final int RECORDS = 5_000;

  @TempDir Path dir;

  private static byte[] key(int i) {
    return ("key-" + i).getBytes(UTF_8);
  }

  private static byte[] value(int i) {
    return ("value " + i * 7919L + " of " + i % 13).getBytes(UTF_8);
  }

  private static BuildOptions options(Layout layout) {
    return Truth.fitting(
        BuildOptions.defaults().withLayout(layout).withSampleRecords(200).withThreads(1));
  }

  private static int shardOf(byte[] key) {
    return ShardedBuild.shardOf(key, 0, key.length, SHARDS);
  }

  private BuildReport build(Path target, BuildOptions options, int shard) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < RECORDS; i++) {
        if (shard < 0 || shardOf(key(i)) == shard) {
          builder.add(key(i), value(i));
        }
      }
      return builder.finish();
    }
  }

  private static Map<String, String> content(Path directory) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(
            directory.relativize(file).toString(),
            Arrays.hashCode(Files.readAllBytes(file)) + " " + Files.size(file));
      }
    }
    return content;
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void joinedShardsAreTheSet(Layout layout) throws IOException {
    Path whole = dir.resolve("whole");
    build(whole, options(layout).withShards(SHARDS), -1);
    Path joined = Files.createDirectory(dir.resolve("joined"));
    List<ShardedBuild.Shard> shards = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      Path built = dir.resolve("built-" + i);
      BuildReport report = build(built, options(layout).withShards(SHARDS).withOnlyShard(i), i);
      ShardedBuild.Shard shard = new ShardedBuild.Shard(i, report.databaseId(), report.records());
      shards.add(shard);
      Files.move(built, joined.resolve(shard.directoryName()));
    }
    Files.write(joined.resolve(ShardedBuild.MANIFEST), ShardedBuild.manifest(shards));

    assertThat(content(joined)).isEqualTo(content(whole));
    try (Database database = Database.open(joined)) {
      for (int i = 0; i < RECORDS; i += 97) {
        assertThat(database.get(key(i))).isEqualTo(value(i));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "PACKED_COMPRESSED"})
  void recordsOfOtherShardsAreRejected(Layout layout) throws IOException {
    byte[] own =
        Stream.iterate(0, i -> i + 1)
            .map(OneShardTest::key)
            .filter(key -> shardOf(key) == 1)
            .findFirst()
            .orElseThrow();
    byte[] other =
        Stream.iterate(0, i -> i + 1)
            .map(OneShardTest::key)
            .filter(key -> shardOf(key) == 2)
            .findFirst()
            .orElseThrow();
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            dir.resolve("db"), options(layout).withShards(SHARDS).withOnlyShard(1))) {
      RecordBatch batch = builder.newBatch();
      batch.add(own, 0, own.length, own, 0, 1);
      builder.add(batch);
      batch.clear();
      batch.add(other, 0, other.length, own, 0, 1);
      assertThatThrownBy(() -> builder.add(batch))
          .isInstanceOfSatisfying(
              ForeignRecordException.class,
              e -> {
                assertThat(e.key()).isEqualTo(other);
                assertThat(e.record()).isEqualTo(1);
              })
          .hasMessageContaining(new String(other, UTF_8))
          .hasMessageContaining("shard 2")
          .hasMessageContaining("only shard 1 of 3");
    }
    assertThat(dir.resolve("db")).doesNotExist();
    assertThat(dir).isEmptyDirectory();
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "COMPRESSED"})
  void duplicatesAreNumberedAmongTheRecordsAdded(Layout layout) throws IOException {
    List<byte[]> own =
        Stream.iterate(0, i -> i + 1)
            .map(OneShardTest::key)
            .filter(key -> shardOf(key) == 0)
            .limit(3)
            .toList();
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            dir.resolve("db"), options(layout).withShards(SHARDS).withOnlyShard(0))) {
      for (byte[] key : own) {
        builder.add(key, key);
      }
      builder.add(own.get(1), own.get(0));
      assertThatThrownBy(builder::finish)
          .isInstanceOfSatisfying(
              DuplicateKeyException.class,
              e -> {
                assertThat(e.key()).isEqualTo(own.get(1));
                assertThat(e.first()).isEqualTo(1);
                assertThat(e.second()).isEqualTo(3);
              });
    }
  }

  @Test
  void optionsAndShardsAreChecked() {
    BuildOptions beyond = BuildOptions.defaults().withShards(3).withOnlyShard(3);
    assertThatThrownBy(() -> DatabaseBuilder.create(dir.resolve("db"), beyond))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("onlyShard is 3, not in 0 to 2, of 3 shards");
    ShardedBuild.Shard second = new ShardedBuild.Shard(1, "0".repeat(32), 5);
    assertThatThrownBy(() -> ShardedBuild.manifest(List.of(second)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ShardedBuild.manifest(List.of(second, second)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("listed as number 0");
  }
}
