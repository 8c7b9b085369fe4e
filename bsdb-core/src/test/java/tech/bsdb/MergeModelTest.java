package tech.bsdb;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random sequences of builds from bases against a map: each result has the bytes of a build of all
 * its records, and the report says what changed.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MergeModelTest {
  /** Sequences of each layout. */
  private static final int SEQUENCES = Rounds.of(4);

  private static final int MERGES = 2;

  @TempDir Path directory;

  static Stream<Arguments> sequences() {
    List<Arguments> all = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (int i = 0; i < SEQUENCES; i++) {
        all.add(Arguments.of(layout, i));
      }
    }
    return all.stream();
  }

  @ParameterizedTest
  @MethodSource("sequences")
  void everyMergeIsABuildOfItsRecords(Layout layout, int number) throws Exception {
    SplittableRandom random = Seeds.random("MergeModelTest " + layout + " " + number);
    BuildOptions options = options(layout, number, random);
    int most = new int[] {3, 100, 1000, 4000}[number % 4];
    boolean longValues = number % 5 == 3;
    Map<String, byte[]> model = new LinkedHashMap<>();
    int first = random.nextInt(10) == 0 ? 0 : random.nextInt(most + 1);
    while (model.size() < first) {
      model.put(key(random, most), value(random, longValues));
    }
    Path base = directory.resolve("0");
    build(model, base, options);
    for (int i = 1; i <= MERGES; i++) {
      Path merged = directory.resolve("" + i);
      ChangeCounts expected;
      BuildReport report;
      try (Database database = Database.open(base);
          DatabaseBuilder builder =
              DatabaseBuilder.from(
                  database, merged, Truth.fitting(options), (stage, done, total) -> {})) {
        expected = change(model, builder, random, most, longValues);
        report = builder.finish();
      }
      assertThat(report.changes()).isEqualTo(expected);
      assertThat(report.records()).isEqualTo(model.size());
      assertThat(report.duplicatesDropped()).isZero();
      Path whole = directory.resolve(i + "-whole");
      BuildReport built = build(model, whole, options);
      check(merged, model);
      boolean reordered =
          layout == Layout.PACKED_COMPRESSED
              || layout == Layout.COMPRESSED && options.orderedKeys();
      if (!reordered || options.dictionaryBytes() == 0) {
        sameBytes(merged, whole); // otherwise the samples come in another order
        assertThat(report.databaseId()).isEqualTo(built.databaseId());
        assertThat(report.fileBytes()).isEqualTo(built.fileBytes());
      }
      assertThat(report.keyBytes()).isEqualTo(built.keyBytes());
      assertThat(report.valueBytes()).isEqualTo(built.valueBytes());
      base = merged;
    }
    Leaks.assertNone(directory);
  }

  private static BuildOptions options(Layout layout, int number, SplittableRandom random) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withDataFiles(1 + random.nextInt(3))
        .withShards(number % 3 == 2 ? 1 + random.nextInt(4) : 1)
        .withFilterBits(layout.isPacked() && random.nextBoolean() ? 1 + random.nextInt(16) : 0)
        .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
        .withChecksumBits(random.nextInt(33))
        .withOrderedKeys(random.nextBoolean())
        .withSeed(random.nextBoolean() ? 0 : random.nextLong())
        .withDictionaryBytes(random.nextBoolean() ? 0 : 4096)
        .withSampleRecords(200)
        .withBlockSize(512 + random.nextInt(4000))
        .withMemoryBytes(random.nextBoolean() ? 1 << 20 : 1 << 30)
        .withThreads(1 + random.nextInt(3))
        .withDuplicates(DuplicatePolicy.LAST);
  }

  private static BuildReport build(Map<String, byte[]> model, Path target, BuildOptions options)
      throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      for (Map.Entry<String, byte[]> entry : model.entrySet()) {
        builder.add(bytes(entry.getKey()), entry.getValue());
      }
      return builder.finish();
    }
  }

  /** Changes the model and gives the builder the same changes, some of them twice. */
  private static ChangeCounts change(
      Map<String, byte[]> model,
      DatabaseBuilder builder,
      SplittableRandom random,
      int most,
      boolean longValues)
      throws Exception {
    List<String> present = new ArrayList<>(model.keySet());
    Map<String, byte[]> last = new LinkedHashMap<>();
    int changes = random.nextInt(8) == 0 ? 0 : random.nextInt(most / 2 + 2);
    byte[] deletion = new byte[0];
    for (int i = 0; i < changes; i++) {
      boolean known = !present.isEmpty() && random.nextBoolean();
      String key = known ? present.get(random.nextInt(present.size())) : key(random, most);
      byte[] value = random.nextInt(3) == 0 ? deletion : value(random, longValues);
      if (value == deletion) {
        builder.delete(bytes(key));
      } else {
        builder.add(bytes(key), value);
      }
      last.remove(key); // the last change of a key counts, in its place
      last.put(key, value);
    }
    long before = model.size();
    long replaced = 0;
    long added = 0;
    long deleted = 0;
    long absent = 0;
    for (Map.Entry<String, byte[]> change : last.entrySet()) {
      boolean there = model.containsKey(change.getKey());
      if (change.getValue() == deletion) {
        model.remove(change.getKey());
        deleted += there ? 1 : 0;
        absent += there ? 0 : 1;
      } else {
        model.put(change.getKey(), change.getValue());
        replaced += there ? 1 : 0;
        added += there ? 0 : 1;
      }
    }
    return new ChangeCounts(
        before - replaced - deleted, replaced, added, deleted, absent, changes - last.size());
  }

  private static void check(Path target, Map<String, byte[]> model) throws Exception {
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(model.size());
    try (Database database = Database.open(target)) {
      for (Map.Entry<String, byte[]> entry : model.entrySet()) {
        Truth.same(database.get(bytes(entry.getKey())), entry.getValue(), entry.getKey());
      }
      Truth truth = new Truth();
      model.forEach((key, value) -> truth.add(bytes(key), value));
      truth.absent(bytes("absent"));
      truth.checkOrder(database);
    }
  }

  private static void sameBytes(Path found, Path expected) throws Exception {
    assertThat(Leaks.tree(found)).isEqualTo(Leaks.tree(expected));
    for (String name : Leaks.tree(expected)) {
      if (Files.isRegularFile(expected.resolve(name))) {
        assertThat(Files.mismatch(found.resolve(name), expected.resolve(name)))
            .as("first different byte of %s", name)
            .isEqualTo(-1);
      }
    }
  }

  private static byte[] bytes(String key) {
    return key.getBytes(ISO_8859_1);
  }

  /** A key of few, so that changes meet. */
  private static String key(SplittableRandom random, int most) {
    int number = random.nextInt(2 * most + 1);
    int length = number % 97 == 5 ? 300 : number == 0 ? 0 : 4 + number % 20;
    byte[] key = new byte[length];
    new SplittableRandom(number).nextBytes(key);
    return new String(key, ISO_8859_1);
  }

  private static byte[] value(SplittableRandom random, boolean longValues) {
    int length =
        longValues && random.nextInt(20) == 0
            ? switch (random.nextInt(3)) {
              case 0 -> 16_382 + random.nextInt(5);
              case 1 -> 32_508 + random.nextInt(5);
              default -> random.nextInt(200_000);
            }
            : random.nextInt(80);
    byte[] value = new byte[length];
    if (random.nextBoolean()) {
      random.nextBytes(value);
    }
    return value;
  }
}
