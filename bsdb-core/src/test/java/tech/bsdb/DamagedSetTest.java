package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.error.CorruptDatabaseException;

/** Sets of shards whose files are missing, cut short, mixed up or changed. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DamagedSetTest {
  private static final int SHARDS = 3;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("DamagedSetTest");
  private final Truth truth = Truth.random(random, 300, 30);

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  static List<BuildOptions> kinds() {
    BuildOptions options =
        BuildOptions.defaults().withShards(SHARDS).withDictionaryBytes(500).withThreads(2);
    return List.of(
        options.withLayout(Layout.BLOCKED).withDataFiles(2),
        options.withLayout(Layout.COMPRESSED),
        options.withLayout(Layout.PACKED).withFilterBits(8),
        options.withLayout(Layout.PACKED_COMPRESSED),
        options.withApproximateWidth(30).withChecksumBits(32));
  }

  private Path build(String name, BuildOptions options) throws IOException {
    Path target = directory.resolve(name);
    truth.build(target, options);
    return target;
  }

  private static List<String> files(Path set) throws IOException {
    return Leaks.tree(set).stream().filter(name -> name.endsWith(".bsdb")).toList();
  }

  /** Whether an error message speaks of a file. */
  private static void names(Throwable error, Path file) {
    assertThat(error).hasMessageContaining(file.toString());
    if (error instanceof CorruptDatabaseException corrupt) {
      assertThat(corrupt.file()).isEqualTo(file);
    }
  }

  private static void isRefused(Path set, Class<? extends IOException> error, Path file) {
    for (OpenOptions.Engine engine : Offered.engines()) {
      OpenOptions options = OpenOptions.defaults().withEngine(engine);
      assertThatThrownBy(() -> Database.open(set, options))
          .isInstanceOf(error)
          .satisfies(e -> names(e, file));
    }
    assertThatThrownBy(() -> Database.verify(set, (done, total) -> {}))
        .isInstanceOf(error)
        .satisfies(e -> names(e, file));
    assertThatThrownBy(() -> Database.statistics(set))
        .isInstanceOf(error)
        .satisfies(e -> names(e, file));
  }

  /** Checks that what was put back is right again. */
  private void isWhole(Path set) throws IOException {
    assertThat(Database.verify(set, (done, total) -> {}).records()).isEqualTo(300);
    try (Database database = Database.open(set)) {
      truth.checkGets(database);
      truth.checkBatches(database);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aMissingFileIsNamed(BuildOptions options) throws Exception {
    Path set = build("set", options);
    Path aside = directory.resolve("aside");
    for (String name : files(set)) {
      Path file = set.resolve(name);
      Files.move(file, aside);
      if (name.equals("manifest.bsdb")) {
        isRefused(set, NotDirectoryException.class, set);
      } else if (name.endsWith("manifest.bsdb")) {
        isRefused(set, NoSuchFileException.class, file.getParent());
      } else {
        isRefused(set, NoSuchFileException.class, file);
      }
      Files.move(aside, file);
    }
    for (Path shard : Forgery.shards(set)) {
      Files.move(shard, aside);
      isRefused(set, NoSuchFileException.class, shard);
      Files.createFile(shard);
      isRefused(set, NoSuchFileException.class, shard);
      Files.delete(shard);
      Files.move(aside, shard);
    }
    isWhole(set);
  }

  @Sampled(2)
  @ParameterizedTest
  @MethodSource("kinds")
  void aTruncatedFileIsNamed(BuildOptions options) throws Exception {
    Path set = build("set", options);
    for (String name : files(set)) {
      Path file = set.resolve(name);
      byte[] bytes = Files.readAllBytes(file);
      for (int length : new int[] {0, 1, 4096, bytes.length / 2, bytes.length - 1}) {
        Files.write(file, Arrays.copyOf(bytes, length));
        isRefused(set, CorruptDatabaseException.class, file);
      }
      Files.write(file, Arrays.copyOf(bytes, bytes.length + 4096));
      isRefused(set, CorruptDatabaseException.class, file);
      Files.write(file, bytes);
    }
    isWhole(set);
  }

  /** Each file of a shard is replaced by its counterpart in another shard or another set. */
  @ParameterizedTest
  @MethodSource("kinds")
  void aFileOfAnotherShardOrSetIsNamed(BuildOptions options) throws Exception {
    Path set = build("set", options);
    Path other = build("other", options.withSeed(17));
    List<Path> shards = Forgery.shards(set);
    for (Path donor : List.of(shards.get(1), Forgery.shards(other).get(0))) {
      for (Path file : Golden.files(shards.get(0))) {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Files.readAllBytes(counterpart(file, donor)));
        isRefused(set, CorruptDatabaseException.class, file);
        Files.write(file, bytes);
      }
    }
    isWhole(set);
  }

  private static Path counterpart(Path file, Path donor) throws IOException {
    String kind = file.getFileName().toString().replaceFirst("-?[0-9a-f]{8}?\\.bsdb", "");
    return Golden.files(donor).stream()
        .filter(each -> each.getFileName().toString().startsWith(kind))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void mixedUpShardsAreNamed(BuildOptions options) throws Exception {
    Path set = build("set", options);
    Path other = build("other", options.withSeed(17));
    List<Path> shards = Forgery.shards(set);
    Path aside = directory.resolve("aside");
    Files.move(shards.get(0), aside); // two shards change places
    Files.move(shards.get(1), shards.get(0));
    Files.move(aside, shards.get(1));
    isRefused(set, CorruptDatabaseException.class, shards.get(0).resolve("manifest.bsdb"));
    Files.move(shards.get(0), aside);
    Files.move(shards.get(1), shards.get(0));
    Files.move(aside, shards.get(1));
    isWhole(set);
    Files.move(shards.get(2), aside); // a shard of another set, under the name of this one's
    Forgery.copyTree(Forgery.shards(other).get(2), shards.get(2));
    isRefused(set, CorruptDatabaseException.class, shards.get(2).resolve("manifest.bsdb"));
    Forgery.deleteTree(shards.get(2));
    Files.move(aside, shards.get(2));
    Path manifest = set.resolve("manifest.bsdb");
    byte[] bytes = Files.readAllBytes(manifest);
    Files.write(manifest, Files.readAllBytes(other.resolve("manifest.bsdb")));
    isRefused(
        set,
        NoSuchFileException.class,
        set.resolve(Forgery.shards(other).get(0).getFileName())); // it is not here
    Files.write(manifest, Files.readAllBytes(shards.get(1).resolve("manifest.bsdb")));
    assertThatThrownBy(() -> Database.open(set)) // its files are not here either
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(set.toString());
    Files.write(manifest, bytes);
    Path manifestOfShard = shards.get(1).resolve("manifest.bsdb");
    Files.write(manifestOfShard, bytes);
    isRefused(set, CorruptDatabaseException.class, manifestOfShard);
  }

  /** Some bytes of every file: verify names it, and lookups give right answers or name it, too. */
  @Sampled(2)
  @ParameterizedTest
  @MethodSource("kinds")
  void aFlippedByteIsFoundInEveryFile(BuildOptions options) throws Exception {
    Path set = build("set", options);
    for (String name : files(set)) {
      Path file = set.resolve(name);
      byte[] bytes = Files.readAllBytes(file);
      for (int i = 0; i < 6; i++) {
        byte[] flipped = bytes.clone();
        int at = i < 2 ? i * (bytes.length - 1) : random.nextInt(bytes.length);
        flipped[at] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, flipped);
        assertThatThrownBy(() -> Database.verify(set, (done, total) -> {}))
            .as("%s with byte %s flipped", name, at)
            .isInstanceOf(IOException.class)
            .hasMessageContaining(file.toString());
        answersOrNames(set, file, at);
      }
      Files.write(file, bytes);
    }
    isWhole(set);
  }

  private void answersOrNames(Path set, Path file, int at) {
    for (OpenOptions.Engine engine :
        List.of(OpenOptions.Engine.MAPPED, OpenOptions.Engine.BUFFERED)) {
      try (Database database = Database.open(set, OpenOptions.defaults().withEngine(engine))) {
        for (Truth.Entry record : truth.records()) {
          try {
            Truth.same(database.get(record.key()), record.value(), file + " at " + at);
          } catch (CorruptDatabaseException e) {
            assertThat(e.file()).isEqualTo(file);
          }
        }
        truth.checkBatches(database);
      } catch (IOException e) {
        assertThat(e).hasMessageContaining(file.toString());
      }
    }
  }
}
