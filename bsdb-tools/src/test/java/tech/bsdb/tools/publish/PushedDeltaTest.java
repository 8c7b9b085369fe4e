package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Rounds;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.store.Store;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.tools.source.FaultyStore;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.TransferOptions;
import tech.bsdb.transfer.TransferReport;

/** Pushes with changes to an object store that fails, and pulls of what they left. */
class PushedDeltaTest {
  private static final String STORE = "faulty://store/users";
  private static final int RECORDS = 10_000;
  private static final TransferOptions QUICK =
      TransferOptions.defaults().withAttempts(2, Duration.ZERO);

  @TempDir Path folder;
  private Path near;
  private Path one;
  private Path two;

  @BeforeEach
  void empty() {
    FaultyStore.reset();
    near = folder.resolve("near");
  }

  private void build(int shards) throws IOException {
    one = build("one", 0, shards);
    two = build("two", 4, shards);
  }

  /** A database of which some records have another value. */
  private Path build(String name, int changed, int shards) throws IOException {
    Path target = folder.resolve(name);
    BuildOptions options = BuildOptions.defaults().withShards(shards).withThreads(1);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < RECORDS; i++) {
        String value = (i < changed ? "changed" : "value") + i;
        builder.add(("key" + i).getBytes(UTF_8), value.getBytes(UTF_8));
      }
      builder.finish();
    }
    return target;
  }

  private static void push(Path database, String version, Path before) throws IOException {
    DeltaDelivery.Source delta =
        before == null
            ? null
            : new DeltaDelivery.Source(
                before, database, Path.of(System.getProperty("java.io.tmpdir")));
    Push.Manner manner = new Push.Manner(version, false, 1, List.of(1L, 1L), delta);
    Push.Follower follower =
        new Push.Follower() {
          @Override
          public void sent(long done, long all) {
            assertThat(done).isBetween(0L, all);
          }

          @Override
          public void retrying(String why) {}
        };
    try (DistantDirectory store = DistantDirectory.open(STORE, FaultyStore.options());
        Push push = new Push(Consignment.of(database), store, manner, follower)) {
      push.send();
      assertThat(push.whole()).isNull();
    }
  }

  /** Pulls what is new; returns the number of databases that were made here. */
  private long pull() throws IOException {
    try (DistantDirectory store = DistantDirectory.open(STORE, FaultyStore.options());
        Publication pull = Publication.pull(store, near, PublishOptions.defaults(), QUICK)) {
      pull.begin();
      if (pull.isCurrent()) {
        return 0;
      }
      pull.copy();
      pull.goLive(pull.current());
      TransferReport report = pull.transferred();
      return report == null ? 0 : report.folded();
    }
  }

  private void assertServes(Path built) throws IOException {
    Path version = near.resolve(String.valueOf(Store.open(near).current()));
    assertThat(Database.statistics(version).databaseId())
        .isEqualTo(Database.statistics(built).databaseId());
    Database.verify(version, (done, all) -> {});
  }

  /** The store here has the first version. */
  private void beginAgain() throws IOException {
    near = Files.createTempDirectory(folder, "near");
    pull();
    assertServes(one);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void whereverItStopsReadersSeeOneVersionOrTheOther(int shards) throws IOException {
    build(shards);
    push(one, "v1", null);
    Map<String, byte[]> before = Map.copyOf(FaultyStore.FILES);
    FaultyStore.repair();
    push(two, "v2", one);
    int steps = FaultyStore.STEPS.get();
    Map<String, byte[]> after = Map.copyOf(FaultyStore.FILES);
    for (int step = 1; step <= steps; step += Rounds.everything() ? 1 : 11) {
      FaultyStore.FILES.clear();
      FaultyStore.FILES.putAll(before);
      beginAgain();
      int from = step;
      FaultyStore.fail(now -> now >= from);
      try {
        push(two, "v2", one);
      } catch (IOException expected) {
        assertThat(expected).hasMessageContaining("connection reset");
      }
      FaultyStore.repair();
      long made = pull();
      assertServes(made > 0 ? two : one);
      push(two, "v2", one);
      long rest = pull();
      assertThat(made + rest).as("step " + step).isPositive();
      assertServes(two);
      assertThat(FaultyStore.FILES.keySet()).isEqualTo(after.keySet());
    }
  }
}
