package tech.bsdb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.DuplicateKeyException;

/** Databases that do not depend on the order in which records are added. */
class SignatureOrderTest {
  @TempDir Path dir;

  private static BuildOptions ordered() {
    return BuildOptions.defaults()
        .withLayout(Layout.BLOCKED)
        .withSignatureOrder(true)
        .withMemoryBytes(1 << 20);
  }

  private static byte[] key(int number) {
    return ("key " + number).getBytes(UTF_8);
  }

  /** Values of all lengths, some longer than what is kept with the keys. */
  private static byte[] value(int number) {
    int length = number % 1000 == 7 ? 20_000 + number : number % 97;
    byte[] value = new byte[length];
    Arrays.fill(value, (byte) number);
    return value;
  }

  private Path build(String name, List<Integer> numbers, BuildOptions options) throws IOException {
    Path target = dir.resolve(name);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int number : numbers) {
        builder.add(key(number), value(number));
      }
      builder.finish();
    }
    return target;
  }

  private static List<Integer> numbers(int count) {
    return new ArrayList<>(IntStream.range(0, count).boxed().toList());
  }

  private static Map<String, Integer> content(Path directory) throws IOException {
    Map<String, Integer> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(
            directory.relativize(file).toString(), Arrays.hashCode(Files.readAllBytes(file)));
      }
    }
    return content;
  }

  private static void requireAll(Path database, int count) throws IOException {
    assertThat(Database.verify(database, (done, total) -> {}).records()).isEqualTo(count);
    try (Database opened = Database.open(database)) {
      for (int i = 0; i < count; i++) {
        assertThat(opened.get(key(i))).isEqualTo(value(i));
      }
      assertThat(opened.get(key(count))).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "COMPACT", "PACKED"})
  void anotherOrderGivesTheSameBytes(Layout layout) throws IOException {
    BuildOptions options = ordered().withLayout(layout).withThreads(3);
    List<Integer> numbers = numbers(20_000);
    Path one = build("one", numbers, options);
    Collections.shuffle(numbers, new Random(5));
    Path other = build("other", numbers, options.withThreads(1).withMemoryBytes(1L << 30));
    assertThat(content(other)).isEqualTo(content(one));
    requireAll(one, 20_000);
  }

  @Test
  void recordsAreThoseOfAnotherOrder() throws IOException {
    Path sorted = build("sorted", numbers(3_000), ordered());
    Path added = build("added", numbers(3_000), BuildOptions.defaults().withLayout(Layout.BLOCKED));
    assertThat(content(sorted)).isNotEqualTo(content(added));
    requireAll(sorted, 3_000);
    requireAll(added, 3_000);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void setsAndSingleShardsToo(int shards) throws IOException {
    BuildOptions options = ordered().withShards(shards);
    List<Integer> numbers = numbers(5_000);
    Path one = build("one", numbers, options);
    Collections.shuffle(numbers, new Random(6));
    assertThat(content(build("other", numbers, options))).isEqualTo(content(one));
    requireAll(one, 5_000);
    if (shards > 1) {
      List<Integer> own =
          numbers.stream()
              .filter(i -> ShardedBuild.shardOf(key(i), 0, key(i).length, shards) == 2)
              .toList();
      Path shard = build("shard", own, options.withOnlyShard(2));
      Map<String, Integer> expected = new TreeMap<>();
      content(one)
          .forEach(
              (name, hash) -> {
                if (name.startsWith("shard-00002-")) {
                  expected.put(name.substring(name.indexOf('/') + 1), hash);
                }
              });
      assertThat(content(shard)).isEqualTo(expected);
    }
  }

  @Test
  void approximateDatabasesToo() throws IOException {
    BuildOptions options = ordered().withApproximateWidth(8);
    List<Integer> numbers = numbers(5_000);
    Path one = build("one", numbers, options);
    Collections.shuffle(numbers, new Random(7));
    assertThat(content(build("other", numbers, options))).isEqualTo(content(one));
  }

  @Test
  void noRecordsAreADatabaseToo() throws IOException {
    requireAll(build("none", List.of(), ordered()), 0);
  }

  @Test
  void duplicatesAreNamedOrOneIsKept() throws IOException {
    List<Integer> twice = numbers(500);
    twice.add(17);
    assertThatThrownBy(() -> build("rejected", twice, ordered()))
        .isInstanceOfSatisfying(
            DuplicateKeyException.class,
            e -> {
              assertThat(e.key()).isEqualTo(key(17));
              assertThat(e.first()).isEqualTo(17);
              assertThat(e.second()).isEqualTo(500);
            });
    assertThat(dir.resolve("rejected")).doesNotExist();
    for (DuplicatePolicy policy : List.of(DuplicatePolicy.FIRST, DuplicatePolicy.LAST)) {
      Path target = dir.resolve(policy.name());
      try (DatabaseBuilder builder =
          DatabaseBuilder.create(target, ordered().withDuplicates(policy))) {
        for (int i = 0; i < 300; i++) {
          builder.add(key(i % 100), value(i));
        }
        BuildReport report = builder.finish();
        assertThat(report.records()).isEqualTo(100);
        assertThat(report.duplicatesDropped()).isEqualTo(200);
      }
      try (Database database = Database.open(target)) {
        int added = policy == DuplicatePolicy.FIRST ? 0 : 200;
        for (int i = 0; i < 100; i++) {
          assertThat(database.get(key(i))).isEqualTo(value(i + added));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void layoutsThatCompressRefuseIt(Layout layout) {
    assertThatThrownBy(() -> build("none", List.of(), ordered().withLayout(layout)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("signatureOrder")
        .hasMessageContaining(layout.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    assertThat(dir.resolve("none")).doesNotExist();
  }

  @Test
  void aBuildCanBeCancelledWhileItPutsRecordsInOrder() throws IOException {
    Path target = dir.resolve("cancelled");
    boolean[] finishing = {false};
    DatabaseBuilder[] self = new DatabaseBuilder[1];
    BuildListener listener =
        (stage, done, total) -> {
          if (finishing[0] && stage == BuildListener.Stage.RECORDS) {
            self[0].close();
          }
        };
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, ordered(), listener)) {
      self[0] = builder;
      for (int i = 0; i < 1_000; i++) {
        builder.add(key(i), value(i));
      }
      builder.add(builder.newBatch());
      finishing[0] = true;
      assertThatThrownBy(builder::finish).isInstanceOf(CancellationException.class);
    }
    try (Stream<Path> left = Files.list(dir)) {
      assertThat(left).isEmpty();
    }
  }
}
