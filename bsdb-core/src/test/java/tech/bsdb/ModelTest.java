package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random databases against a map: every layout and engine, and the numbers of records at which
 * things change.
 */
class ModelTest {
  private static final int MOST = Rounds.longOrShort(20_000, 4000);
  private static final int[] COUNTS = {0, 1, 2, 3, 85, 86, 511, 512, 1499, 1500, 1501, MOST};

  @TempDir Path directory;

  static Stream<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (int count : COUNTS) {
        if (count < MOST || Rounds.everything()) {
          cases.add(Arguments.of(layout, count, 1));
        }
      }
      cases.add(Arguments.of(layout, MOST, 3));
    }
    return cases.stream();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyRecordIsFoundAndNoOther(Layout layout, int count, int dataFiles) throws Exception {
    SplittableRandom random = Seeds.random("ModelTest " + layout + " " + count);
    Map<ByteBuffer, byte[]> model = new LinkedHashMap<>();
    while (model.size() < count) {
      model.put(ByteBuffer.wrap(key(random)), value(random));
    }
    Path target = directory.resolve("db");
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(dataFiles)
            .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
            .withChecksumBits(random.nextInt(33))
            .withMemoryBytes(1 << 20)
            .withBlockSize(512 + random.nextInt(9000));
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      for (Map.Entry<ByteBuffer, byte[]> entry : model.entrySet()) {
        builder.add(entry.getKey().array(), entry.getValue());
      }
      BuildReport report = builder.finish();
      assertThat(report.records()).isEqualTo(count);
    }
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(count);
    Truth truth = new Truth();
    for (Map.Entry<ByteBuffer, byte[]> entry : model.entrySet()) {
      truth.add(entry.getKey().array(), entry.getValue());
    }
    for (int i = 0; i < count + 10; i++) {
      byte[] key = key(random);
      if (!model.containsKey(ByteBuffer.wrap(key))) {
        truth.absent(key);
      }
    }
    for (OpenOptions.Engine engine : Offered.some(random)) {
      truth.checkEveryWay(target, engine);
    }
    try (Database database = Database.open(target)) {
      truth.checkScan(database);
    }
    NativeReader.check(target, truth);
  }

  /** For other JDKs in the short form. */
  @Tag("jdk")
  @ParameterizedTest
  @EnumSource
  void everyLayout(Layout layout) throws Exception {
    everyRecordIsFoundAndNoOther(layout, 1501, 2);
  }

  static int[] counts() {
    return COUNTS;
  }

  @ParameterizedTest
  @MethodSource("counts")
  void approximateValuesComeBackCut(int count) throws Exception {
    SplittableRandom random = Seeds.random("ModelTest approximate " + count);
    Map<ByteBuffer, byte[]> model = new LinkedHashMap<>();
    while (model.size() < count) {
      model.put(ByteBuffer.wrap(key(random)), value(random));
    }
    int width = 1 + random.nextInt(255);
    Path target = directory.resolve("db");
    BuildOptions options =
        BuildOptions.defaults()
            .withApproximateWidth(width)
            .withHash(random.nextBoolean() ? HashAlgorithm.GOV : HashAlgorithm.PTR)
            .withChecksumBits(16)
            .withLayout(count % 2 == 0 ? Layout.BLOCKED : Layout.COMPRESSED) // counts for nothing
            .withDataFiles(3); // neither does this
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      for (Map.Entry<ByteBuffer, byte[]> entry : model.entrySet()) {
        builder.add(entry.getKey().array(), entry.getValue());
      }
      builder.finish();
    }
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(count);
    assertThat(Database.statistics(target).layout()).isEqualTo("none");
    assertThat(Database.statistics(target).dataBytes()).isZero();
    try (Database database = Database.open(target)) {
      for (Map.Entry<ByteBuffer, byte[]> entry : model.entrySet()) {
        byte[] value = entry.getValue();
        Truth.same(
            database.get(entry.getKey().array()),
            Arrays.copyOf(value, Math.min(width, value.length)),
            "value");
      }
    }
  }

  static byte[] key(SplittableRandom random) {
    int length =
        switch (random.nextInt(20)) {
          case 0 -> random.nextInt(3);
          case 1 -> 253 + random.nextInt(6);
          case 2 -> random.nextInt(70) == 0 ? 65_530 + random.nextInt(6) : random.nextInt(5000);
          default -> 1 + random.nextInt(40);
        };
    byte[] key = new byte[length];
    random.nextBytes(key);
    return key;
  }

  static byte[] value(SplittableRandom random) {
    int length =
        switch (random.nextInt(40)) {
          case 0 -> 0;
          case 1 -> 4040 + random.nextInt(100);
          case 2 -> random.nextInt(20) == 0 ? 32_505 + random.nextInt(10) : random.nextInt(10_000);
          case 3 ->
              random.nextInt(40) == 0
                  ? 60_000 + random.nextInt(2_000_000)
                  : 8170 + random.nextInt(30);
          default -> random.nextInt(200);
        };
    byte[] value = new byte[length];
    if (random.nextBoolean()) {
      random.nextBytes(value);
    }
    return value;
  }
}
