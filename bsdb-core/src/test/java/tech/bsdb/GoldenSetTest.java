package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.ShardSet;

/**
 * The set of shards that is kept for ever is read as it was written, and a build today gives the
 * same bytes, except for the content hashes that it does not have.
 */
@Tag("jdk")
class GoldenSetTest {
  private static final String ID = "v1-sharded";
  private static final int SHARDS = 3;

  @TempDir Path directory;

  /** Its records, those of the examples of FORMAT.md among them, and some absent keys. */
  static Truth truth() {
    Truth truth = new Truth();
    truth
        .add("bsdb", "build and serve, build and serve, build and serve")
        .add("empty", "")
        .add("", "an empty key is a key")
        .add("123456789", "slot 12739")
        .add("{user1000}.following", "slot 3443")
        .add("{user1000}.followers", "the same slot")
        .add("foo{}{bar}", "slot 8363")
        .add("foo{{bar}}zap", "slot 4015");
    for (String key : new String[] {"absent", "{user1000}", "user1000", "{}", "x".repeat(70_000)}) {
      truth.absent(Truth.utf8(key));
    }
    return truth;
  }

  private static void build(Path target) throws IOException {
    truth()
        .build(
            target,
            BuildOptions.defaults()
                .withHash(HashAlgorithm.GOV)
                .withLayout(Layout.COMPACT)
                .withShards(SHARDS));
  }

  /** Its directory among the test resources. */
  static Path golden() throws IOException {
    URL url = GoldenSetTest.class.getResource("/golden/" + ID + "/manifest.bsdb");
    if (url == null) {
      throw new IOException("no golden set");
    }
    try {
      return Path.of(url.toURI()).getParent();
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("tech.bsdb.Offered#engines")
  void itIsReadByEveryEngine(OpenOptions.Engine engine) throws Exception {
    assertThat(Database.verify(golden(), (done, total) -> {}).records()).isEqualTo(8);
    truth().checkEveryWay(golden(), engine);
    assertThat(Database.statistics(golden()).shards()).isEqualTo(SHARDS);
    assertThat(Database.statistics(golden()).shardRecords()).doesNotContain(0L);
  }

  /**
   * Each shard has the keys of the slots that the golden bytes say, wherever slots are computed.
   */
  @Test
  void eachShardIsReadAlone() throws Exception {
    for (Path shard : Forgery.shards(golden())) {
      int number = Database.statistics(shard).shard();
      Database.verify(shard, (done, total) -> {});
      try (Database database = Database.open(shard)) {
        for (Truth.Entry record : truth().records()) {
          if (KeySlots.shard(record.key(), SHARDS) == number) {
            assertThat(database.get(record.key())).isEqualTo(record.value());
          } else {
            assertThatThrownBy(() -> database.get(record.key()))
                .isInstanceOf(WrongShardException.class);
          }
        }
      }
    }
  }

  @Test
  void aBuildTodayGivesTheSameBytesButForContentHashes() throws Exception {
    Path hashed = directory.resolve("hashed");
    build(hashed);
    Path built = Files.createDirectory(directory.resolve("built"));
    List<ShardSet.Shard> shards = new ArrayList<>();
    for (Path shard : Forgery.shards(hashed)) {
      List<String> lines = Forgery.withoutHashes(shard);
      long records = Database.statistics(shard).records();
      shards.add(Forgery.shard(shard, lines, built, shards.size(), records));
    }
    Forgery.set(built, shards);
    assertThat(Leaks.tree(built)).isEqualTo(Leaks.tree(golden()));
    for (String name : Leaks.tree(built)) {
      if (Files.isRegularFile(built.resolve(name))) {
        assertThat(built.resolve(name)).hasSameBinaryContentAs(golden().resolve(name));
      }
    }
  }
}
