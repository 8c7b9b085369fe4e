package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.DiffListener.Difference;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.hash.Signature;

/** What two databases differ in, whatever their layouts, seeds and shards. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DiffTest {
  private static final BuildOptions PACKED = BuildOptions.defaults().withLayout(Layout.PACKED);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("DiffTest");
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** Databases in the order of their keys are joined in this order, whatever their layouts. */
  @ParameterizedTest
  @CsvSource({"BLOCKED, COMPACT, 1, 1", "COMPRESSED, BLOCKED, 1, 3", "COMPACT, COMPRESSED, 2, 2"})
  void orderedDatabasesAreJoined(Layout one, Layout other, int shardsOfOne, int shardsOfOther)
      throws Exception {
    BuildOptions ordered = BuildOptions.defaults().withOrderedKeys(true);
    for (int often : Rounds.some(List.of(1, 3, 40), 1, random)) {
      Versions versions = versions(2000, often, 20_000);
      Path before = build(versions.before, ordered.withLayout(one).withShards(shardsOfOne));
      Path after = build(versions.after, ordered.withLayout(other).withShards(shardsOfOther));
      try (Database first = Database.open(before);
          Database second = Database.open(after)) {
        assertThat(Database.haveSameOrder(first, second)).isTrue();
        Lines lines = new Lines(Integer.MAX_VALUE);
        DiffOptions options = DiffOptions.defaults().withDetail(DiffOptions.Detail.VALUES);
        assertCounts(Database.diff(first, second, options, lines), versions);
        assertThat(lines.lines).containsExactlyInAnyOrderElementsOf(expected(versions, true));
        assertThat(lines.lines.stream().map(line -> line.substring(line.indexOf(' ')))).isSorted();
        assertThat(lines.done).isEqualTo(lines.total);
        assertCounts(Database.diff(first, second), versions);
        assertThat(Database.diff(first, first).kept()).isEqualTo(versions.before.size());
      }
    }
  }

  /** Two versions of some records. */
  private record Versions(Map<ByteBuffer, byte[]> before, Map<ByteBuffer, byte[]> after) {}

  /**
   * Random versions.
   *
   * @param often one of so many records differs
   */
  private Versions versions(int records, int often, int longest) {
    Versions versions = new Versions(new HashMap<>(), new HashMap<>());
    for (int i = 0; i < records; i++) {
      ByteBuffer key = ByteBuffer.wrap(Truth.bytes(random, 1 + random.nextInt(30)));
      byte[] value = value(longest);
      if (random.nextInt(often) > 0) {
        versions.before.put(key, value);
        versions.after.put(key, value.clone());
      } else {
        int kind = random.nextInt(4);
        if (kind != 0) {
          versions.before.put(key, value);
        }
        if (kind > 1) {
          versions.after.put(key, changed(value, longest));
        } else if (kind == 0) {
          versions.after.put(key, value);
        } else {
          versions.after.remove(key);
        }
      }
    }
    return versions;
  }

  private byte[] value(int longest) {
    boolean large = random.nextInt(20) == 0;
    return Truth.bytes(random, random.nextInt(large ? longest + 1 : Math.min(longest + 1, 60)));
  }

  /** Another value, or the same one. */
  private byte[] changed(byte[] value, int longest) {
    byte[] other = value.clone();
    switch (random.nextInt(4)) {
      case 0 -> other = value(longest);
      case 1 -> other = Arrays.copyOf(value, value.length + 1);
      default -> {
        if (other.length > 0) {
          other[random.nextBoolean() ? other.length - 1 : random.nextInt(other.length)]++;
        }
      }
    }
    return other;
  }

  private Path build(Map<ByteBuffer, byte[]> records, BuildOptions options) throws IOException {
    Path target = directory.resolve("db" + made++);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (Map.Entry<ByteBuffer, byte[]> record : records.entrySet()) {
        builder.add(bytes(record.getKey()), record.getValue());
      }
      builder.finish();
    }
    return target;
  }

  private static byte[] bytes(ByteBuffer key) {
    byte[] bytes = new byte[key.remaining()];
    key.duplicate().get(bytes);
    return bytes;
  }

  private static String line(
      Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after) {
    return difference
        + " "
        + HexFormat.of().formatHex(key)
        + " "
        + (before == null ? "-" : shown(before))
        + " "
        + (after == null ? "-" : shown(after));
  }

  private static String shown(byte[] value) {
    return value.length < 100
        ? HexFormat.of().formatHex(value)
        : value.length + ":" + Arrays.hashCode(value);
  }

  /** What should be received. */
  private static List<String> expected(Versions versions, boolean values) {
    List<String> lines = new ArrayList<>();
    versions.before.forEach(
        (key, value) -> {
          byte[] now = versions.after.get(key);
          if (now == null) {
            lines.add(line(Difference.REMOVED, bytes(key), values ? value : null, null));
          } else if (!Arrays.equals(value, now)) {
            lines.add(
                line(Difference.CHANGED, bytes(key), values ? value : null, values ? now : null));
          }
        });
    versions.after.forEach(
        (key, value) -> {
          if (!versions.before.containsKey(key)) {
            lines.add(line(Difference.ADDED, bytes(key), null, values ? value : null));
          }
        });
    return lines;
  }

  /** Receives lines, and checks the progress. */
  private static final class Lines implements DiffListener {
    private final List<String> lines = new ArrayList<>();
    private final int most;
    private long done;
    private long total = -1;

    Lines(int most) {
      this.most = most;
    }

    @Override
    public boolean differs(
        Difference difference, byte[] key, byte @Nullable [] before, byte @Nullable [] after) {
      assertThat(lines.size()).isLessThan(most);
      lines.add(line(difference, key, before, after));
      return lines.size() < most;
    }

    @Override
    public void progress(long doneRecords, long totalRecords) {
      assertThat(doneRecords).isBetween(done, totalRecords);
      done = doneRecords;
      total = totalRecords;
    }
  }

  private static void assertCounts(DiffReport report, Versions versions) {
    List<String> lines = expected(versions, false);
    long added = lines.stream().filter(line -> line.startsWith("ADDED")).count();
    long removed = lines.stream().filter(line -> line.startsWith("REMOVED")).count();
    long changed = lines.stream().filter(line -> line.startsWith("CHANGED")).count();
    assertThat(List.of(report.added(), report.removed(), report.changed()))
        .isEqualTo(List.of(added, removed, changed));
    assertThat(report.kept()).isEqualTo(versions.before.size() - removed - changed);
    assertThat(report.recordsBefore()).isEqualTo(versions.before.size());
    assertThat(report.recordsAfter()).isEqualTo(versions.after.size());
    assertThat(report.isEqual()).isEqualTo(lines.isEmpty());
  }

  private static void assertDiff(Path before, Path after, Versions versions) throws IOException {
    try (Database one = Database.open(before);
        Database two = Database.open(after)) {
      DiffReport report = Database.diff(one, two);
      assertCounts(report, versions);
      List<List<String>> orders = new ArrayList<>();
      for (boolean values : new boolean[] {false, true}) {
        for (int threads : new int[] {1, 4}) {
          Lines lines = new Lines(Integer.MAX_VALUE);
          DiffOptions options =
              DiffOptions.defaults()
                  .withDetail(values ? DiffOptions.Detail.VALUES : DiffOptions.Detail.KEYS)
                  .withThreads(threads);
          assertThat(Database.diff(one, two, options, lines)).isEqualTo(report);
          assertThat(lines.lines.stream().sorted().toList())
              .isEqualTo(expected(versions, values).stream().sorted().toList());
          assertThat(lines.done).isEqualTo(lines.total);
          assertThat(lines.total).isEqualTo(report.recordsBefore() + report.recordsAfter());
          orders.add(
              lines.lines.stream().map(line -> List.of(line.split(" ", -1)).get(1)).toList());
        }
      }
      assertThat(orders).allMatch(orders.get(0)::equals);
      int most = 1 + orders.get(0).size() / 2;
      Lines first = new Lines(most);
      DiffOptions options = DiffOptions.defaults().withDetail(DiffOptions.Detail.KEYS);
      assertThat(Database.diff(one, two, options, first)).isEqualTo(report);
      assertThat(first.lines).hasSize(Math.min(most, orders.get(0).size()));
      DiffReport back = Database.diff(two, one);
      assertThat(List.of(back.kept(), back.added(), back.removed(), back.changed()))
          .isEqualTo(List.of(report.kept(), report.removed(), report.added(), report.changed()));
      assertThat(Database.diff(one, one).isEqual()).isTrue();
    }
  }

  @Sampled(2)
  @ParameterizedTest
  @EnumSource
  void everyLayoutBesideEveryOther(Layout layout) throws IOException {
    for (Layout other : Layout.values()) {
      if (!Rounds.everything() && other.compareTo(layout) < 0) {
        continue; // each pair is compared both ways
      }
      BuildOptions one = BuildOptions.defaults().withLayout(layout);
      BuildOptions two = BuildOptions.defaults().withLayout(other);
      Versions versions = versions(600, 10, 40_000);
      Path before = build(versions.before, one);
      Path after = build(versions.after, two);
      assertDiff(before, after, versions);
      try (Database first = Database.open(before);
          Database second = Database.open(after)) {
        assertThat(Database.haveSameOrder(first, second))
            .isEqualTo(layout == Layout.PACKED && other == Layout.PACKED);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void setsSeedsAndSeveralFiles(Layout layout) throws IOException {
    for (int round = 0; round < Rounds.of(1); round++) {
      BuildOptions options = BuildOptions.defaults().withLayout(layout);
      boolean sets = random.nextInt(3) > 0;
      BuildOptions one = options.withShards(sets ? 4 : 1).withDataFiles(1 + random.nextInt(3));
      BuildOptions two =
          options
              .withShards(sets ? random.nextBoolean() ? 4 : 3 : 1)
              .withDataFiles(1 + random.nextInt(3))
              .withSeed(random.nextInt(3) == 0 ? 7 : 0);
      Versions versions = versions(500, 1 + random.nextInt(20), 50_000);
      assertDiff(build(versions.before, one), build(versions.after, two), versions);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 30})
  void fewRecords(int records) throws IOException {
    for (Layout layout : Layout.values()) {
      BuildOptions options = BuildOptions.defaults().withLayout(layout);
      Versions versions = versions(records, 1, 40);
      Path before = build(versions.before, options);
      Path after = build(versions.after, options);
      Path empty = build(Map.of(), options);
      assertDiff(before, after, versions);
      assertDiff(before, empty, new Versions(versions.before, Map.of()));
      assertDiff(empty, after, new Versions(Map.of(), versions.after));
    }
  }

  @Test
  void manyRanges() throws IOException {
    Versions versions = versions(150_000, 50, 2_000);
    Path before = build(versions.before, PACKED.withDataFiles(2));
    assertThat(Database.statistics(before).databaseBytes()).isGreaterThan(10 << 20);
    assertDiff(before, build(versions.after, PACKED), versions);
  }

  @Test
  void longValuesAreComparedToTheirEnd() throws IOException {
    Versions versions = new Versions(new HashMap<>(), new HashMap<>());
    int i = 0;
    for (int length : new int[] {16_383, 16_384, 16_385, 20_000, 300_000, 5_000_000}) {
      for (int at : new int[] {-1, 0, 1, length / 2, length - 2, length - 1}) {
        ByteBuffer key = ByteBuffer.wrap(Truth.utf8("key " + i++));
        byte[] value = Truth.bytes(random, length);
        versions.before.put(key, value);
        byte[] other = value.clone();
        if (at >= 0) {
          other[at]++;
        }
        versions.after.put(key, other);
      }
    }
    // other records shift the pages in which values start and end
    for (int j = 0; j < 300; j++) {
      ByteBuffer key = ByteBuffer.wrap(Truth.utf8("small " + j));
      (j % 2 == 0 ? versions.before : versions.after).put(key, value(200));
    }
    assertDiff(build(versions.before, PACKED), build(versions.after, PACKED), versions);
  }

  @Test
  void keysWithTheSameSignature() throws IOException {
    for (int round = 0; round < Rounds.of(3); round++) {
      Versions versions = versions(200, 5, 60);
      for (ByteBuffer key : List.copyOf(versions.before.keySet()).subList(0, 20)) {
        Signature signature = new Signature();
        signature.compute(bytes(key), 0, key.remaining(), 0);
        for (int salt = random.nextInt(5); salt >= 0; salt--) {
          ByteBuffer same =
              ByteBuffer.wrap(SpookyCollision.key(signature.high, signature.low, salt));
          byte[] value = value(random.nextInt(8) == 0 ? 30_000 : 60);
          int kind = random.nextInt(4);
          if (kind != 0) {
            versions.before.put(same, value);
          }
          if (kind != 1) {
            versions.after.put(same, kind == 2 ? value : changed(value, 60));
          }
        }
      }
      BuildOptions spooky = PACKED.withSignature(SignatureAlgorithm.SPOOKY);
      assertDiff(build(versions.before, spooky), build(versions.after, spooky), versions);
    }
  }

  @Test
  void droppedDuplicatesAreNoRecords() throws IOException {
    for (Layout layout : Layout.values()) {
      BuildOptions options = BuildOptions.defaults().withLayout(layout);
      List<Path> built = new ArrayList<>();
      for (DuplicatePolicy policy : List.of(DuplicatePolicy.FIRST, DuplicatePolicy.LAST)) {
        Path target = directory.resolve("duplicates" + made++);
        try (DatabaseBuilder builder =
            DatabaseBuilder.create(target, options.withDuplicates(policy))) {
          for (int i = 0; i < 400; i++) {
            builder.add(Truth.utf8("key " + i % 150), Truth.utf8("value " + i % 300));
          }
          builder.finish();
        }
        built.add(target);
      }
      try (Database first = Database.open(built.get(0));
          Database last = Database.open(built.get(1))) {
        DiffReport report = Database.diff(first, last);
        assertThat(report.kept()).isEqualTo(100); // keys 0 to 99 came thrice
        assertThat(report.changed()).isEqualTo(50);
        assertThat(report.added() + report.removed()).isZero();
      }
    }
  }

  @Test
  void partsOfSetsMustHoldTheSameShards() throws IOException {
    Versions versions = versions(600, 5, 60);
    for (Layout layout : List.of(Layout.PACKED, Layout.BLOCKED)) {
      BuildOptions options = BuildOptions.defaults().withLayout(layout);
      Path before = build(versions.before, options.withShards(4));
      Path after = build(versions.after, options.withShards(4));
      Path partBefore = Forgery.part(before, directory.resolve("part" + made++), 0, 2);
      Path partAfter = Forgery.part(after, directory.resolve("part" + made++), 0, 2);
      assertDiff(partBefore, partAfter, held(versions, 4, 0, 2));
      assertDiff(shard(before, 1), shard(after, 1), held(versions, 4, 1));
      Path third = Forgery.part(after, directory.resolve("part" + made++), 0, 3);
      refused(partBefore, third, "2 of 4 shards");
      refused(partBefore, after, "all 4 shards");
      refused(before, partAfter, "the same shards");
      refused(shard(before, 1), shard(after, 2), "shard 1 of 4");
      refused(shard(before, 1), build(versions.after, options.withShards(1)), "no shards");
    }
  }

  private static Path shard(Path set, int number) throws IOException {
    try (Stream<Path> below = Files.list(set)) {
      return below.filter(Files::isDirectory).sorted().skip(number).findFirst().orElseThrow();
    }
  }

  private static Versions held(Versions all, int shards, Integer... held) {
    Versions versions = new Versions(new HashMap<>(all.before), new HashMap<>(all.after));
    for (Map<ByteBuffer, byte[]> records : List.of(versions.before, versions.after)) {
      records.keySet().removeIf(key -> !List.of(held).contains(KeySlots.shard(bytes(key), shards)));
    }
    return versions;
  }

  private static void refused(Path before, Path after, String why) throws IOException {
    try (Database one = Database.open(before);
        Database two = Database.open(after)) {
      assertThatThrownBy(() -> Database.diff(one, two))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(why);
    }
  }

  @Test
  void approximateAndClosedDatabasesAreRefused() throws IOException {
    Map<ByteBuffer, byte[]> records = versions(50, 5, 8).before;
    Path exact = build(records, PACKED);
    Path approximate =
        build(records, BuildOptions.defaults().withApproximateWidth(8).withChecksumBits(8));
    try (Database one = Database.open(exact);
        Database two = Database.open(approximate)) {
      assertThatThrownBy(() -> Database.diff(one, two))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("approximate");
      assertThatThrownBy(() -> Database.diff(two, one))
          .isInstanceOf(UnsupportedOperationException.class);
      Database closed = Database.open(exact);
      closed.close();
      assertThatThrownBy(() -> Database.diff(one, closed))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anInterruptEndsTheComparison(Layout layout) throws IOException {
    Path path = build(versions(2_000, 5, 60).before, BuildOptions.defaults().withLayout(layout));
    try (Database one = Database.open(path);
        Database two = Database.open(path)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> Database.diff(one, two)).isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(Database.diff(one, two).isEqual()).isTrue();
    }
  }

  @Test
  void whatTheReceiverThrowsEndsTheComparison() throws IOException {
    Versions versions = versions(500, 2, 60);
    Path before = build(versions.before, PACKED);
    Path after = build(versions.after, PACKED);
    IOException full = new IOException("full");
    DiffListener listener =
        new DiffListener() {
          @Override
          public boolean differs(
              Difference difference, byte[] key, byte @Nullable [] old, byte @Nullable [] now)
              throws IOException {
            throw full;
          }
        };
    try (Database one = Database.open(before);
        Database two = Database.open(after)) {
      DiffOptions options = DiffOptions.defaults().withDetail(DiffOptions.Detail.KEYS);
      assertThatThrownBy(() -> Database.diff(one, two, options, listener)).isSameAs(full);
    }
  }

  @ParameterizedTest
  @EnumSource
  void damageIsReportedWithTheFile(Layout layout) throws IOException {
    BuildOptions options = BuildOptions.defaults().withLayout(layout).withDataFiles(2);
    Versions versions = versions(3_000, 10, 20_000);
    Path before = build(versions.before, options);
    Path after = build(versions.after, options);
    for (Path damaged : List.of(before, after)) {
      List<Path> files = new ArrayList<>();
      try (Stream<Path> below = Files.list(damaged)) {
        below.filter(file -> file.getFileName().toString().startsWith("data")).forEach(files::add);
      }
      assertThat(files).hasSize(2);
      for (Path file : files) {
        byte[] bytes = Files.readAllBytes(file);
        if (bytes.length == 2 * 4096) {
          continue; // all records are in the first stripe, which is in the other file
        }
        byte[] changed = bytes.clone();
        // where a record is sure to be read: long values of records that differ anyhow are not
        changed[4096 + 2 + random.nextInt(4000)] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, changed);
        try (Database one = Database.open(before);
            Database two = Database.open(after)) {
          assertThatThrownBy(
                  () ->
                      Database.diff(
                          one,
                          two,
                          DiffOptions.defaults().withDetail(DiffOptions.Detail.VALUES),
                          DiffListener.NONE))
              .isInstanceOfSatisfying(
                  CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(file));
        }
        Files.write(file, bytes);
      }
    }
    assertDiff(before, after, versions);
  }

  /** Records in another order than their signatures, or fewer than the manifest says. */
  @Test
  void forgedOrderAndNumbersAreDamage() throws IOException {
    Versions versions = versions(3_000, 10, 60);
    Path before = build(versions.before, PACKED);
    Path after = build(versions.after, PACKED);
    List<String> lines = Forgery.lines(after);
    Path disordered = Files.createDirectory(directory.resolve("disordered"));
    Forgery.database(after, Forgery.with(lines, "hash.seed", "5"), disordered);
    Path other = build(versions.before, PACKED.withSeed(5));
    damaged(other, disordered, disordered, "the order of their signatures");
    damaged(disordered, other, disordered, "the order of their signatures");
    Path fewer = Files.createDirectory(directory.resolve("fewer"));
    Forgery.database(after, Forgery.with(lines, "records", versions.after.size() + 1 + ""), fewer);
    damaged(before, fewer, fewer, versions.after.size() + " records");
    damaged(fewer, before, fewer, versions.after.size() + " records");
    damaged(fewer, other, fewer, versions.after.size() + " records");
  }

  private static void damaged(Path before, Path after, Path file, String why) throws IOException {
    try (Database one = Database.open(before);
        Database two = Database.open(after)) {
      assertThatThrownBy(() -> Database.diff(one, two))
          .isInstanceOfSatisfying(
              CorruptDatabaseException.class, e -> assertThat(e.file().getParent()).isEqualTo(file))
          .hasMessageContaining(why);
    }
  }
}
