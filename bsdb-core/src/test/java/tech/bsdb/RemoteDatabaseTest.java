package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.mirror.FolderRanges;
import tech.bsdb.remote.RemoteOptions;

/** A database that is read where it lies answers as the same one in a directory. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RemoteDatabaseTest {
  private static final int RECORDS = 500;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RemoteDatabaseTest");

  private RemoteOptions options() {
    return RemoteOptions.defaults().withCache(directory.resolve("cache"));
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static Stream<String> kinds() {
    return ShardedDatabaseTest.kinds().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindAnswersAsADirectory(String kind) throws Exception {
    for (int shards : new int[] {1, 3}) {
      Path there = directory.resolve("rdb" + shards);
      Truth truth = Truth.random(random, RECORDS, 40);
      truth.build(there, ShardedDatabaseTest.kinds().get(kind).withShards(shards));
      FolderRanges origin = new FolderRanges(there);
      for (int opened = 0; opened < 2; opened++) {
        try (Database database = Database.open(origin, options());
            Database here = Database.open(there)) {
          truth.checkGets(database);
          truth.checkBatches(database);
          truth.checkOrder(database);
          if (!kind.startsWith("approximate")) {
            truth.checkScan(database);
            DiffReport differences = Database.diff(database, here);
            assertThat(differences.kept()).isEqualTo(RECORDS);
          }
          assertThat(database.statistics().location()).isEqualTo(FolderRanges.LOCATION);
          assertThat(database.statistics().databaseId()).isEqualTo(here.statistics().databaseId());
        }
      }
      assertThat(Database.verify(origin, options(), (done, total) -> {}))
          .isEqualTo(Database.verify(there, (done, total) -> {}));
    }
  }
}
