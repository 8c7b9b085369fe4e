package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildListener.Stage;
import tech.bsdb.BuildOptions;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.RandomKeys;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;

/** The order of keys collected while they are packed, against that of keys known in order. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CollectedKeysTest {
  private static final long SEED = 7;
  private static final SignatureFunction FUNCTION =
      SignatureFunction.of(BuildOptions.defaults().withSeed(SEED));

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("CollectedKeysTest");
  private final List<Truth.Entry> records = new ArrayList<>();
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
    assertThat(Leaks.tree(directory)).noneMatch(name -> name.endsWith(".part"));
  }

  /** Adds records of distinct keys, and after them some again with other values. */
  private void add(Iterable<byte[]> keys, int again) {
    for (byte[] key : keys) {
      records.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(30))));
    }
    Collections.shuffle(records, new Random(random.nextLong()));
    int distinct = records.size();
    for (int i = 0; i < again; i++) {
      byte[] key = records.get(random.nextInt(distinct)).key();
      records.add(new Truth.Entry(key, Truth.bytes(random, random.nextInt(30))));
    }
  }

  private static void put(RecordWriter writer, Truth.Entry record) throws Exception {
    writer.add(Framed.of(record.key(), record.value(), FUNCTION));
  }

  /** Where the stage has the keys from. */
  private enum Keys {
    KNOWN_IN_ORDER(1 << 28),
    COLLECTED(1 << 28),
    COLLECTED_IN_LITTLE_MEMORY(1 << 20);

    final long memoryBytes;

    Keys(long memoryBytes) {
      this.memoryBytes = memoryBytes;
    }
  }

  /** The content of the file of the order, and whether the keys were in a file before. */
  private record Ordered(byte[] content, boolean divided) {}

  private Ordered order(Keys keys, Layout layout, DuplicatePolicy duplicates, int threads)
      throws Exception {
    return order(keys, layout, duplicates, threads, new Unwatched());
  }

  private Ordered order(
      Keys keys, Layout layout, DuplicatePolicy duplicates, int threads, AssemblyProgress progress)
      throws Exception {
    boolean collects = keys != Keys.KNOWN_IN_ORDER;
    long memory = keys.memoryBytes;
    Path own = Files.createDirectory(directory.resolve("build-" + made++));
    BuildPlace place = new BuildPlace(own, Files.createDirectory(own.resolve("temporary")));
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withBlockSize(1024)
            .withCompressionLevel(3)
            .withSeed(SEED)
            .withDuplicates(duplicates)
            .withMemoryBytes(memory)
            .withThreads(threads);
    RecordTotals totals = new RecordTotals();
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        CollectedKeys collected = new CollectedKeys(place, memory, threads);
        PackedAssembly assembly =
            new PackedAssembly(place, chunk, options, collects ? collected : null);
        Resources resources = new Resources()) {
      RecordWriter writer = assembly.writer(null);
      for (Truth.Entry record : records) {
        totals.add(record.key().length, record.value().length);
        put(writer, record);
      }
      collected.expect(totals.records(), totals.keyBytes());
      Assembled assembled = assembly.complete(progress);
      Path spilled = place.temporaryDirectory().resolve("order.part");
      boolean divided = Files.exists(spilled);
      OrderStage stage = new OrderStage(assembled, totals, place, chunk, options, progress);
      Assembled ordered =
          collects
              ? stage.add(resources, collected)
              : stage.add(resources, distinctInOrder()::poll);
      assertThat(spilled).doesNotExist();
      List<Assembled.Content> contents = ordered.contents();
      assertThat(contents).hasSize(assembled.contents().size() + 1);
      Path file = contents.get(contents.size() - 1).file().path();
      return new Ordered(Files.readAllBytes(file), divided);
    }
  }

  private Queue<byte[]> distinctInOrder() {
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    records.forEach(record -> keys.add(record.key()));
    return new ArrayDeque<>(keys);
  }

  private void requireSameOrder(Layout layout, DuplicatePolicy duplicates, boolean divided)
      throws Exception {
    Ordered expected = order(Keys.KNOWN_IN_ORDER, layout, duplicates, 2);
    Ordered inMemory = order(Keys.COLLECTED, layout, duplicates, 2);
    long keyBytes = records.stream().mapToLong(record -> record.key().length).sum();
    assertThat(inMemory.divided).isEqualTo(keyBytes > 4 << 20);
    assertThat(inMemory.content).isEqualTo(expected.content);
    for (int threads : Rounds.some(List.of(1, 2, 5), 1, random)) {
      Ordered spilled = order(Keys.COLLECTED_IN_LITTLE_MEMORY, layout, duplicates, threads);
      assertThat(spilled.divided).isEqualTo(divided);
      assertThat(spilled.content).isEqualTo(expected.content);
    }
  }

  @Sampled(2)
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void theOrderIsThatOfKeysKnownInOrder(Layout layout) throws Exception {
    add(RandomKeys.set(random, 60_000, 40), 0);
    requireSameOrder(layout, DuplicatePolicy.ERROR, true);
  }

  @Sampled(2)
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void duplicatesAreCollectedOnce(Layout layout) throws Exception {
    add(RandomKeys.set(random, 40_000, 40), 20_000);
    requireSameOrder(layout, DuplicatePolicy.FIRST, true);
    requireSameOrder(layout, DuplicatePolicy.LAST, true);
  }

  /** The keys of all records would need a file, but not those that are left. */
  @Test
  void manyRecordsOfFewKeys() throws Exception {
    add(RandomKeys.set(random, 1_000, 40), 60_000);
    requireSameOrder(Layout.PACKED, DuplicatePolicy.LAST, false);
  }

  /** A sample of few keys, each longer than a chunk, and partitions larger than a run. */
  @Test
  void longKeys() throws Exception {
    for (int i = 0; i < 200; i++) {
      byte[] key = Truth.bytes(random, 60_000 + random.nextInt(5_000));
      records.add(new Truth.Entry(key, new byte[0]));
    }
    requireSameOrder(Layout.PACKED, DuplicatePolicy.ERROR, true);
  }

  @Test
  void noKeys() throws Exception {
    requireSameOrder(Layout.PACKED, DuplicatePolicy.ERROR, false);
  }

  @Test
  void aDuplicateThatIsNotAllowedLeavesNoFile() throws Exception {
    add(RandomKeys.set(random, 60_000, 40), 1);
    assertThatThrownBy(
            () -> order(Keys.COLLECTED_IN_LITTLE_MEMORY, Layout.PACKED, DuplicatePolicy.ERROR, 2))
        .isInstanceOf(DuplicateKeyException.class);
  }

  @Test
  void aBuildCancelledWhileItPacksLeavesNoFile() throws Exception {
    add(RandomKeys.set(random, 60_000, 40), 0);
    boolean[] spilled = {false};
    AssemblyProgress cancelled =
        new Unwatched() {
          private volatile boolean late;

          @Override
          public void progress(Stage stage, long done) {
            late = done > 50_000;
            spilled[0] = Files.exists(directory.resolve("build-0/temporary/order.part"));
          }

          @Override
          public boolean cancelled() {
            return late;
          }
        };
    assertThatThrownBy(
            () ->
                order(
                    Keys.COLLECTED_IN_LITTLE_MEMORY,
                    Layout.PACKED,
                    DuplicatePolicy.ERROR,
                    2,
                    cancelled))
        .isInstanceOf(CancellationException.class);
    assertThat(spilled[0]).isTrue();
  }
}
