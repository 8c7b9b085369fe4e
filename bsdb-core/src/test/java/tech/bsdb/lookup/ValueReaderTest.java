package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Golden;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.LookupBatch;
import tech.bsdb.Offered;
import tech.bsdb.OpenOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.ValueReader;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;

/** {@link Database#read} shows what {@code get} returns, and a slice kept too long harms nobody. */
@Tag("jdk")
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ValueReaderTest {
  private static final int[] LENGTHS = {
    0, 1, 7, 8, 63, 64, 65, 100, 255, 256, 1000, 4000, 4060, 4080, 4096, 5000, 70_000, 1_200_000
  };

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ValueReaderTest");

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (OpenOptions.Engine engine : Offered.engines()) {
      for (Layout layout : Layout.values()) {
        cases.add(Arguments.of(engine, layout, 0));
      }
      cases.add(Arguments.of(engine, Layout.BLOCKED, 8));
    }
    return cases;
  }

  /** All, or each engine, layout and width at least once. */
  static List<Arguments> fewCases() {
    List<Arguments> cases = cases();
    int engines = Offered.engines().size();
    int kinds = cases.size() / engines;
    List<Arguments> few = new ArrayList<>();
    for (int i = 0; i < Math.max(engines, kinds); i++) {
      few.add(cases.get(i % engines * kinds + i % kinds));
    }
    return Rounds.everything() ? cases : few;
  }

  private static byte[] bytes(ByteBuffer value) {
    byte[] bytes = new byte[value.remaining()];
    value.get(bytes);
    return bytes;
  }

  /** Values of all lengths, in records that end before, at and after the end of a page. */
  private Truth truth() {
    Truth truth = Truth.random(random, 400, 300);
    for (int length : LENGTHS) {
      truth.add(Truth.utf8("length " + length), Truth.bytes(random, length));
    }
    for (int length = Page.PAYLOAD - 24; length <= Page.PAYLOAD; length++) {
      truth.add(Truth.utf8("border " + length), Truth.bytes(random, length));
    }
    truth.add(new byte[0], Truth.bytes(random, 33));
    truth.add(Truth.bytes(random, 300), Truth.bytes(random, 44));
    truth.add(Truth.bytes(random, 5000), Truth.bytes(random, 55));
    return truth;
  }

  private Path build(Truth truth, Layout layout, int width) throws IOException {
    Path target = directory.resolve(layout + "-" + width);
    truth.build(
        target,
        BuildOptions.defaults()
            .withLayout(layout)
            .withApproximateWidth(width)
            .withDictionaryBytes(4096)
            .withOverwrite(true));
    return target;
  }

  private Path small(Layout layout) throws IOException {
    return build(
        new Truth()
            .add("one", "the first")
            .add("two", "the second")
            .add("long", "v".repeat(20_000)),
        layout,
        0);
  }

  private static Database open(Path target, OpenOptions.Engine engine) throws IOException {
    return Database.open(target, OpenOptions.defaults().withEngine(engine));
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("cases")
  void itShowsWhatGetReturns(OpenOptions.Engine engine, Layout layout, int width)
      throws IOException {
    Truth truth = truth();
    AtomicInteger calls = new AtomicInteger();
    try (Database database = open(build(truth, layout, width), engine)) {
      List<byte[]> keys = new ArrayList<>(truth.records().stream().map(Truth.Entry::key).toList());
      for (int i = 0; i < 200; i++) {
        keys.add(Truth.utf8("absent " + i));
      }
      for (byte[] key : keys) {
        byte[] expected = database.get(key);
        calls.set(0);
        byte[] found =
            database.read(
                key,
                value -> {
                  calls.incrementAndGet();
                  assertThat(value.isReadOnly()).isTrue();
                  assertThat(value.hasArray()).isFalse();
                  assertThat(value.order()).isEqualTo(ByteOrder.BIG_ENDIAN);
                  assertThat(value.position()).isZero();
                  assertThat(value.limit()).isEqualTo(value.capacity());
                  return bytes(value);
                });
        assertThat(calls.get()).isEqualTo(expected == null ? 0 : 1);
        assertThat(Arrays.equals(found, expected)).as("the value of %s", key).isTrue();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("fewCases")
  void theValueCannotBeChanged(OpenOptions.Engine engine, Layout layout, int width)
      throws IOException {
    try (Database database = open(build(truth(), layout, width), engine)) {
      for (int length : new int[] {8, 5000, 70_000}) {
        database.read(
            Truth.utf8("length " + length),
            value -> {
              assertThatThrownBy(() -> value.put(0, (byte) 1))
                  .isInstanceOf(ReadOnlyBufferException.class);
              assertThatThrownBy(() -> value.slice().duplicate().putLong(0, 1))
                  .isInstanceOf(ReadOnlyBufferException.class);
              return null;
            });
      }
    }
  }

  @Test
  void aReaderMayReturnNothing() throws IOException {
    try (Database database = Database.open(small(Layout.BLOCKED))) {
      assertThat(database.<String>read(Truth.utf8("one"), value -> null)).isNull();
      assertThat(database.<String>read(new byte[70_000], value -> "called")).isNull();
    }
  }

  @SuppressWarnings("unchecked")
  private static <X extends Throwable> void raise(Throwable failure) throws X {
    throw (X) failure;
  }

  @ParameterizedTest
  @MethodSource("fewCases")
  void whatAReaderThrowsArrivesUnchanged(OpenOptions.Engine engine, Layout layout, int width)
      throws IOException {
    byte[] key = Truth.utf8("length 100");
    try (Database database = open(build(truth(), layout, width), engine)) {
      for (Throwable failure :
          List.of(
              new IOException("mine"),
              new UncheckedIOException(new IOException("mine")),
              new IndexOutOfBoundsException("mine"),
              new IllegalStateException("mine"),
              new AssertionError("mine"))) {
        ValueReader<String> failing =
            value -> {
              ValueReaderTest.<RuntimeException>raise(failure);
              return null;
            };
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> database.read(key, failing)).isSameAs(failure);
        }
      }
      assertThatThrownBy(() -> database.read(key, value -> value.get(value.limit())))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThat(database.read(key, ValueReaderTest::bytes)).isEqualTo(database.get(key));
    }
  }

  @Test
  void anUnreadableMappedPageIsAnIoException() throws IOException {
    InternalError fault = new InternalError("a fault occurred in an unsafe memory access");
    try (Database database = open(small(Layout.BLOCKED), OpenOptions.Engine.MAPPED)) {
      assertThatThrownBy(
              () ->
                  database.read(
                      Truth.utf8("one"),
                      value -> {
                        throw fault;
                      }))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("a mapped file cannot be read")
          .hasCause(fault);
    }
  }

  @ParameterizedTest
  @MethodSource("fewCases")
  void aReaderMayLookUpOtherKeys(OpenOptions.Engine engine, Layout layout, int width)
      throws IOException {
    Truth truth = truth();
    try (Database database = open(build(truth, layout, width), engine)) {
      assertThat(nested(database, truth, 0, 300)).isEqualTo(300);
      List<byte[]> keys = truth.records().stream().map(Truth.Entry::key).limit(50).toList();
      LookupBatch batch = database.batch();
      keys.forEach(batch::add);
      byte[] key = Truth.utf8("length 5000");
      byte[] expected = database.get(key);
      database.read(
          key,
          value -> {
            List<byte[]> all = database.getAll(keys);
            batch.get();
            for (int i = 0; i < keys.size(); i++) {
              assertThat(batch.value(i)).isEqualTo(all.get(i));
              assertThat(database.getAsync(keys.get(i)).join()).isEqualTo(all.get(i));
            }
            assertThat(bytes(value)).isEqualTo(expected);
            return null;
          });
    }
  }

  /** Reads a value within the reader of the one before; more at a time than guests are kept. */
  private static int nested(Database database, Truth truth, int from, int depth)
      throws IOException {
    if (depth == 0) {
      return 0;
    }
    byte[] key = truth.records().get(from).key();
    byte[] expected = database.get(key);
    Integer inner =
        database.read(
            key,
            value -> {
              int found = nested(database, truth, from + 1, depth - 1);
              assertThat(bytes(value)).isEqualTo(expected);
              return found;
            });
    return 1 + Objects.requireNonNull(inner);
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void aReaderCannotCloseItsDatabase(Layout layout) throws IOException {
    byte[] key = Truth.utf8("one");
    Database database = Database.open(small(layout));
    for (int depth : new int[] {0, 1, 300}) {
      assertThat(refusedAt(database, depth)).isTrue();
      assertThat(database.get(key)).isEqualTo(Truth.utf8("the first"));
    }
    database.close();
    assertThatThrownBy(() -> database.read(key, value -> 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  private static boolean refusedAt(Database database, int depth) throws IOException {
    Boolean refused =
        database.read(
            Truth.utf8("two"),
            value -> {
              if (depth > 0) {
                return refusedAt(database, depth - 1);
              }
              assertThatThrownBy(database::close)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("must not close");
              return true;
            });
    return Boolean.TRUE.equals(refused);
  }

  @ParameterizedTest
  @MethodSource("fewCases")
  void closeWaitsForAReader(OpenOptions.Engine engine, Layout layout, int width) throws Exception {
    Truth truth = truth();
    Database database = open(build(truth, layout, width), engine);
    byte[] key = Truth.utf8("length 100");
    byte[] expected = Objects.requireNonNull(database.get(key));
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch refused = new CountDownLatch(1);
    CompletableFuture<byte @Nullable []> found =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return database.read(
                    key,
                    value -> {
                      inside.countDown();
                      awaitClosing(database, key);
                      refused.countDown();
                      return bytes(value);
                    });
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            task -> new Thread(task).start());
    assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
    database.close();
    assertThat(refused.getCount()).as("closed after the reader").isZero();
    assertThat(found.get(60, TimeUnit.SECONDS)).isEqualTo(expected);
  }

  private static void awaitClosing(Database database, byte[] key) throws IOException {
    while (true) {
      try {
        database.get(key);
        Thread.onSpinWait();
      } catch (IllegalStateException e) {
        return;
      }
    }
  }

  /** Files of more than 128 KiB, whose memory the system takes back when they are closed. */
  @ParameterizedTest
  @MethodSource("fewCases")
  void aSliceKeptTooLongDoesNotCrash(OpenOptions.Engine engine, Layout layout, int width)
      throws Exception {
    Truth truth = Truth.random(random, 4000, 400);
    truth.add("large", "v".repeat(100_000));
    List<ByteBuffer> kept = new ArrayList<>();
    Database database = open(build(truth, layout, width), engine);
    for (Truth.Entry each : truth.records()) {
      kept.add(Objects.requireNonNull(database.read(each.key(), value -> value)));
    }
    sum(kept);
    database.close();
    for (int round = 0; round < 3; round++) {
      sum(kept);
      System.gc();
    }
    for (int i = 0; i < kept.size(); i++) {
      try {
        byte[] found = bytes(kept.get(i).duplicate());
        byte[] expected = truth.records().get(i).value();
        if (engine == OpenOptions.Engine.MAPPED && layout == Layout.BLOCKED && width == 0) {
          assertThat(expected.length > 3000 || Arrays.equals(found, expected)).isTrue();
        }
      } catch (IllegalStateException e) {
        assertThat(e).hasMessageContaining("closed");
      }
    }
    kept.clear();
    Leaks.assertNone(directory);
  }

  private static long sum(List<ByteBuffer> slices) {
    long sum = 0;
    for (ByteBuffer slice : slices) {
      try {
        for (int i = 0; i < slice.limit(); i += 16) {
          sum += slice.get(i);
        }
      } catch (IllegalStateException e) {
        sum++;
      }
    }
    return sum;
  }

  /** On Java 17 to 21, the garbage collector does it. */
  @Test
  @EnabledForJreRange(min = JRE.JAVA_22)
  void filesAreUnmappedAtOnce() throws Exception {
    for (Layout layout : Layout.values()) {
      Database database = open(small(layout), OpenOptions.Engine.MAPPED);
      assertThat(database.read(Truth.utf8("long"), ByteBuffer::remaining)).isEqualTo(20_000);
      assertThat(database.read(Truth.utf8("absent"), ByteBuffer::remaining)).isNull();
      database.close();
      assertThat(Leaks.mappings(directory)).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("fewCases")
  void itReportsDamageAsGetDoes(OpenOptions.Engine engine, Layout layout, int width)
      throws IOException {
    Truth truth = Truth.random(random, 60, 200);
    truth.add("large", "v".repeat(9000));
    Path target = build(truth, layout, width);
    int damaged = 0;
    for (Path file : Golden.files(target)) {
      byte[] sound = Files.readAllBytes(file);
      for (int i = 0; i < 12; i++) {
        byte[] other = sound.clone();
        other[random.nextInt(other.length)] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, other);
        damaged += failures(target, engine, truth);
      }
      Files.write(file, sound);
    }
    assertThat(damaged).as("lookups that met damage").isPositive();
  }

  private static int failures(Path target, OpenOptions.Engine engine, Truth truth)
      throws IOException {
    int failures = 0;
    try (Database database = open(target, engine)) {
      for (Truth.Entry each : truth.records()) {
        String got = outcome(() -> database.get(each.key()));
        String read = outcome(() -> database.read(each.key(), ValueReaderTest::bytes));
        assertThat(read).isEqualTo(got);
        failures += got.startsWith("damage") ? 1 : 0;
      }
    } catch (CorruptDatabaseException e) {
      failures++; // found when it was opened
    }
    return failures;
  }

  /** A lookup. */
  private interface Answer {
    byte @Nullable [] get() throws IOException;
  }

  private static String outcome(Answer lookup) throws IOException {
    try {
      return Arrays.toString(lookup.get());
    } catch (CorruptDatabaseException e) {
      return "damage: " + e.getMessage();
    }
  }
}
