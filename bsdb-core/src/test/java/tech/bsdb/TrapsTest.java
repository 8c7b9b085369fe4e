package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the best-known implementation of this idea falls into, as far as it is the core's. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TrapsTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("TrapsTest");

  /**
   * There, addresses in data files from 64 on had their top bit set, and their keys were "absent".
   */
  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void keysInTheLastDataFileAreFound(Layout layout) throws Exception {
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            target,
            BuildOptions.defaults().withLayout(layout).withDataFiles(128).withDictionaryBytes(0))) {
      byte[] large = Truth.bytes(random, 1 << 20);
      for (int i = 0; i < 128 * 4 + 50; i++) {
        builder.add(Truth.utf8("large " + i), large);
        builder.add(Truth.utf8("small " + i), Truth.utf8("value " + i));
      }
      builder.finish();
    }
    for (Path file : Golden.files(target)) {
      assertThat(file).satisfies(each -> assertThat(Files.size(each)).isGreaterThan(8192));
    }
    Database.verify(target, (done, total) -> {});
    try (Database database = Database.open(target)) {
      for (int i = 0; i < 128 * 4 + 50; i++) {
        assertThat(database.get(Truth.utf8("small " + i))).isEqualTo(Truth.utf8("value " + i));
        assertThat(database.get(Truth.utf8("large " + i))).hasSize(1 << 20);
      }
    }
  }

  /** There, the arithmetic of an odd last pass lost 131,069 keys. */
  @Sampled(2)
  @ParameterizedTest
  @ValueSource(ints = {442_000, 524_287, 524_288, 524_289, 700_001})
  void noKeyIsLostWithManyPasses(int count) throws Exception {
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            target,
            BuildOptions.defaults()
                .withLayout(Layout.BLOCKED)
                .withMemoryBytes(1 << 20)
                .withThreads(2))) {
      for (int i = 0; i < count; i++) {
        builder.add(Truth.utf8(Integer.toString(i)), new byte[0]);
      }
      assertThat(builder.finish().records()).isEqualTo(count);
    }
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(count);
  }

  /**
   * There, an empty key was read as the end of a block, and all records behind it were lost to a
   * scan.
   */
  @ParameterizedTest
  @EnumSource
  void anEmptyKeyEndsNothing(Layout layout) throws Exception {
    for (String value : new String[] {"", "x", "\0\0\0\0"}) {
      Truth truth =
          new Truth().add("before", "1").add("", value).add("behind", "2").absent(new byte[1]);
      Path target = directory.resolve("db" + value.length());
      truth.build(target, BuildOptions.defaults().withLayout(layout));
      truth.check(target);
    }
  }

  /** There, a record over 4,093 bytes broke an approximate build. */
  @Test
  void anApproximateBuildTakesLargeRecords() throws Exception {
    Truth truth = new Truth();
    for (int length = 4080; length < 4100; length++) {
      truth.add(Truth.bytes(random, length), new byte[0]);
      truth.add(Truth.bytes(random, 9), new byte[0]);
    }
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withApproximateWidth(8).withChecksumBits(32));
    try (Database database = Database.open(target)) {
      truth.checkGets(database);
    }
  }

  /**
   * There, nothing was checked to be large enough: no records, one, and too few to learn a
   * dictionary from.
   */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 10})
  void fewRecordsBuild(int count) throws Exception {
    for (Layout layout : Layout.values()) {
      for (int bits : new int[] {0, 32}) {
        Truth truth = Truth.random(random, count, 30);
        Path target = directory.resolve(layout.name().toLowerCase(java.util.Locale.ROOT) + bits);
        truth.build(target, BuildOptions.defaults().withLayout(layout).withChecksumBits(bits));
        truth.check(target);
      }
    }
    Path approximate = directory.resolve("approximate");
    Truth truth = Truth.random(random, count, 8);
    truth.build(approximate, BuildOptions.defaults().withApproximateWidth(8).withChecksumBits(32));
    try (Database database = Database.open(approximate)) {
      truth.checkGets(database);
    }
  }

  /** There, exceptions of worker threads were printed and forgotten, and the build "succeeded". */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWorkerThatFailsFailsTheBuild(boolean duplicatesAllowed) throws Exception {
    Path target = directory.resolve("db");
    AtomicBoolean cut = new AtomicBoolean();
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(Layout.BLOCKED)
            .withMemoryBytes(1 << 20)
            .withDuplicates(duplicatesAllowed ? DuplicatePolicy.FIRST : DuplicatePolicy.ERROR);
    assertThatThrownBy(
            () -> {
              try (DatabaseBuilder builder =
                  DatabaseBuilder.create(
                      target,
                      options,
                      (stage, done, total) -> {
                        if (done > 600_000 && cut.compareAndSet(false, true)) {
                          cutSpill();
                        }
                      })) {
                RecordBatch batch = builder.newBatch();
                for (int i = 0; i < 700_000; i++) {
                  byte[] key = Truth.utf8(Integer.toString(i));
                  batch.add(key, 0, key.length, key, 0, 0);
                  if (batch.records() == 100_000) {
                    builder.add(batch);
                    batch.clear();
                  }
                }
                builder.finish();
              }
            })
        .isInstanceOf(IOException.class)
        .hasMessageContaining("signatures");
    assertThat(cut).isTrue();
    assertThat(directory).isEmptyDirectory();
    Leaks.assertNone(directory);
  }

  /** Cuts the file in which signatures wait, behind the back of the build. */
  private void cutSpill() {
    try (Stream<Path> files = Files.walk(directory)) {
      Path spill = files.filter(file -> file.endsWith("signatures.part")).findAny().orElseThrow();
      assertThat(Files.size(spill)).isGreaterThan(4_000_000);
      Files.write(spill, new byte[0]);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** There, files of the database directory were deserialised: whoever could write one ran code. */
  @Test
  void anObjectInAFileIsNotRead() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
      objects.writeObject(new Loud());
    }
    Path target = Golden.BLOCKED.copyTo(directory.resolve("db"));
    Specimen specimen = new Specimen(target, Golden.BLOCKED.truth(), true);
    for (Path file : Golden.files(target)) {
      byte[] before = Files.readAllBytes(file);
      Files.write(file, bytes.toByteArray());
      specimen.check(file, "an object");
      byte[] within = before.clone();
      System.arraycopy(bytes.toByteArray(), 0, within, 4096, bytes.size());
      Files.write(file, within);
      specimen.check(file, "an object within");
      Files.write(file, before);
    }
    assertThat(Loud.READ).isFalse();
  }

  private static final class Loud implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final AtomicBoolean READ = new AtomicBoolean();

    private void readObject(ObjectInputStream in) {
      READ.set(true);
    }
  }
}
