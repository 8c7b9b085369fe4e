package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.DuplicateKeyException;

/**
 * Builds that are broken off at every stage leave nothing of theirs, and the old database as it
 * was.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BuildFailureTest {
  private static final class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @TempDir Path directory;

  private final Truth old = new Truth().add("old", "value").absent(Truth.utf8("key"));
  private final SplittableRandom random = Seeds.random("BuildFailureTest");
  private final Truth records = Truth.random(random, 3000, 50);
  private List<String> before;

  private Path target() {
    return directory.resolve("databases/db");
  }

  @BeforeEach
  void buildOld() throws Exception {
    old.build(target(), BuildOptions.defaults());
    java.nio.file.Files.createDirectories(directory.resolve("temp"));
    before = Leaks.tree(directory);
  }

  @AfterEach
  void nothingChanged() throws Exception {
    Thread.interrupted();
    assertThat(Leaks.tree(directory)).isEqualTo(before);
    Leaks.assertNone(directory);
    old.check(target());
  }

  private BuildOptions options(Layout layout) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withDataFiles(2)
        .withDictionaryBytes(1024)
        .withDuplicates(DuplicatePolicy.LAST)
        .withTemporaryDirectory(directory.resolve("temp"));
  }

  static List<Arguments> kinds() {
    List<Arguments> kinds = new ArrayList<>();
    for (boolean overwrite : new boolean[] {false, true}) {
      for (Layout layout : EnumSet.complementOf(EnumSet.of(Layout.COMPACT))) {
        kinds.add(Arguments.of(layout, overwrite, 0, 1));
      }
      kinds.add(Arguments.of(Layout.BLOCKED, overwrite, 8, 1));
      kinds.add(Arguments.of(Layout.BLOCKED, overwrite, 8, 3));
      kinds.add(Arguments.of(Layout.COMPRESSED, overwrite, 0, 3));
      kinds.add(Arguments.of(Layout.PACKED, overwrite, 0, 3));
    }
    if (Rounds.everything()) {
      return kinds;
    }
    int half = kinds.size() / 2;
    List<Arguments> few = new ArrayList<>(); // each kind once, every second over the old database
    for (int i = 0; i < half; i++) {
      few.add(kinds.get(i % 2 * half + i));
    }
    return few;
  }

  private DatabaseBuilder builder(
      Layout layout, boolean overwrite, int width, int shards, BuildListener listener)
      throws IOException {
    return DatabaseBuilder.create(
        overwrite ? target() : directory.resolve("databases/fresh"),
        Truth.fitting(
            options(layout)
                .withOverwrite(overwrite)
                .withApproximateWidth(width)
                .withShards(shards)
                .withOrderedKeys(width == 0)),
        listener);
  }

  private void addAll(DatabaseBuilder builder) throws IOException {
    RecordBatch batch = builder.newBatch();
    for (Truth.Entry record : records.records()) {
      batch.add(record.key(), 0, record.key().length, record.value(), 0, record.value().length);
      if (batch.records() == 500) {
        builder.add(batch);
        batch.clear();
      }
    }
  }

  /** How many times the listener is called in a whole build. */
  private int calls(Layout layout, int width, int shards) throws IOException {
    AtomicInteger calls = new AtomicInteger();
    Path elsewhere = directory.resolve("databases/whole");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            elsewhere,
            Truth.fitting(
                options(layout)
                    .withApproximateWidth(width)
                    .withShards(shards)
                    .withOrderedKeys(width == 0)),
            (stage, done, total) -> calls.incrementAndGet())) {
      addAll(builder);
      builder.finish();
    }
    List<String> names = new ArrayList<>(Leaks.tree(elsewhere));
    Collections.reverse(names); // files before their directories
    for (String name : names) {
      java.nio.file.Files.delete(elsewhere.resolve(name));
    }
    java.nio.file.Files.delete(elsewhere);
    return calls.get();
  }

  /** The calls to break a build off in: all, or some. */
  private List<Integer> chosen(int calls) {
    return Rounds.some(1, calls, 4, random);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void aListenerThatFails(Layout layout, boolean overwrite, int width, int shards)
      throws Exception {
    int calls = calls(layout, width, shards);
    assertThat(calls).isGreaterThan(9);
    for (int n : chosen(calls)) {
      AtomicInteger left = new AtomicInteger(n);
      assertThatThrownBy(
              () -> {
                try (DatabaseBuilder builder =
                    builder(
                        layout,
                        overwrite,
                        width,
                        shards,
                        (stage, done, total) -> {
                          if (left.decrementAndGet() == 0) {
                            throw new Broken();
                          }
                        })) {
                  addAll(builder);
                  builder.finish();
                }
              })
          .as("call %s", n)
          .isInstanceOf(Broken.class);
      assertThat(Leaks.tree(directory)).as("call %s", n).isEqualTo(before);
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void anErrorInEveryStage(Layout layout, boolean overwrite, int width, int shards)
      throws Exception {
    for (BuildListener.Stage failing : BuildListener.Stage.values()) {
      if ((layout.isPacked() || shards > 1) && failing == BuildListener.Stage.COUNT) {
        continue; // nothing is counted before the records are packed, or counting is no stage
      }
      if ((width > 0 || shards > 1) && failing == BuildListener.Stage.ORDER) {
        continue; // there are no keys to order, or ordering is no stage
      }
      OutOfMemoryError error = new OutOfMemoryError("thrown by a test");
      assertThatThrownBy(
              () -> {
                try (DatabaseBuilder builder =
                    builder(
                        layout,
                        overwrite,
                        width,
                        shards,
                        (stage, done, total) -> {
                          if (stage == failing) {
                            throw error;
                          }
                        })) {
                  addAll(builder);
                  builder.finish();
                }
              })
          .isSameAs(error);
      Leaks.assertNone(directory);
      assertThat(Leaks.tree(directory)).as("in stage %s", failing).isEqualTo(before);
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void aListenerThatClosesTheBuilder(Layout layout, boolean overwrite, int width, int shards)
      throws Exception {
    int calls = calls(layout, width, shards);
    for (int n : chosen(calls)) {
      AtomicInteger left = new AtomicInteger(n);
      AtomicReference<DatabaseBuilder> self = new AtomicReference<>();
      assertThatThrownBy(
              () -> {
                try (DatabaseBuilder builder =
                    builder(
                        layout,
                        overwrite,
                        width,
                        shards,
                        (stage, done, total) -> {
                          if (left.decrementAndGet() == 0) {
                            self.get().close();
                          }
                        })) {
                  self.set(builder);
                  addAll(builder);
                  builder.finish();
                }
              })
          .as("call %s", n)
          .isInstanceOf(CancellationException.class);
      assertThat(Leaks.tree(directory)).as("call %s", n).isEqualTo(before);
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void aCloseByAnotherThread(Layout layout, boolean overwrite, int width, int shards)
      throws Exception {
    int calls = calls(layout, width, shards);
    for (int n : chosen(calls)) {
      AtomicInteger left = new AtomicInteger(n);
      AtomicReference<Thread> closer = new AtomicReference<>();
      AtomicReference<DatabaseBuilder> self = new AtomicReference<>();
      assertThatThrownBy(
              () -> {
                try (DatabaseBuilder builder =
                    builder(
                        layout,
                        overwrite,
                        width,
                        shards,
                        (stage, done, total) -> {
                          if (left.decrementAndGet() == 0) {
                            Thread thread = new Thread(() -> self.get().close(), "closer");
                            thread.start();
                            closer.set(thread);
                            awaitBlocked(thread);
                          }
                        })) {
                  self.set(builder);
                  addAll(builder);
                  builder.finish();
                }
              })
          .as("call %s", n)
          .isInstanceOf(CancellationException.class);
      closer.get().join();
      assertThat(Leaks.tree(directory)).as("call %s", n).isEqualTo(before);
    }
  }

  /** Waits until the thread has said what it wants, and waits for its turn. */
  private static void awaitBlocked(Thread thread) {
    while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
      Thread.onSpinWait();
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @MethodSource("kinds")
  void anInterruptedThread(Layout layout, boolean overwrite, int width, int shards)
      throws Exception {
    int calls = calls(layout, width, shards);
    for (int n : chosen(calls)) {
      AtomicInteger left = new AtomicInteger(n);
      try (DatabaseBuilder builder =
          builder(
              layout,
              overwrite,
              width,
              shards,
              (stage, done, total) -> {
                if (left.decrementAndGet() == 0) {
                  Thread.currentThread().interrupt();
                }
              })) {
        addAll(builder);
        builder.finish();
      } catch (IOException e) {
        assertThat(e)
            .isInstanceOf(InterruptedIOException.class)
            .hasMessageContaining("interrupted; nothing was published");
        assertThat(Thread.interrupted()).as("still interrupted, call %s", n).isTrue();
        assertThat(Leaks.tree(directory)).as("call %s", n).isEqualTo(before);
        continue;
      }
      Thread.interrupted();
      throw new AssertionError(
          "the interrupt in call " + n + " of " + calls + " broke nothing off");
    }
  }

  @Test
  void aBuilderThatIsClosedTakesNothing() throws Exception {
    DatabaseBuilder builder = builder(Layout.BLOCKED, true, 0, 1, (stage, done, total) -> {});
    builder.add(new byte[1], new byte[1]);
    builder.close();
    builder.close();
    refusesAll(builder);
  }

  @Test
  void aBuilderThatFailedTakesNothing() throws Exception {
    BuildOptions options =
        options(Layout.BLOCKED).withOverwrite(true).withDuplicates(DuplicatePolicy.ERROR);
    try (DatabaseBuilder builder = DatabaseBuilder.create(target(), Truth.fitting(options))) {
      builder.add(new byte[1], new byte[1]);
      builder.add(new byte[1], new byte[2]);
      assertThatThrownBy(builder::finish).isInstanceOf(DuplicateKeyException.class);
      refusesAll(builder);
    }
  }

  @Test
  void aBuilderWhoseAddFailedTakesNothing() throws Exception {
    AtomicInteger left = new AtomicInteger(2);
    try (DatabaseBuilder builder =
        builder(
            Layout.BLOCKED,
            true,
            0,
            1,
            (stage, done, total) -> {
              if (left.decrementAndGet() == 0) {
                throw new Broken();
              }
            })) {
      assertThatThrownBy(() -> addAll(builder)).isInstanceOf(Broken.class);
      refusesAll(builder);
    }
  }

  private static void refusesAll(DatabaseBuilder builder) {
    RecordBatch batch = builder.newBatch();
    batch.add(new byte[1], 0, 1, new byte[1], 0, 1);
    assertThatThrownBy(() -> builder.add(batch)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> builder.add(new byte[2], new byte[1]))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(builder::finish).isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBuilderThatWasLeftAlone(boolean overwrite) throws Exception {
    builder(Layout.COMPRESSED, overwrite, 0, 1, (stage, done, total) -> {}).close();
    builder(Layout.COMPRESSED, overwrite, 0, 3, (stage, done, total) -> {}).close();
  }
}
