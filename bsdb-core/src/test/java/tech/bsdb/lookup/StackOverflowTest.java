package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Layout;
import tech.bsdb.OpenOptions;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** A stack that overflows anywhere in a lookup harms neither later lookups nor closing. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StackOverflowTest {
  private static final int FRAMES = 37;
  private static final long STACK = 256 << 10;
  private static final byte[] KEY = Truth.utf8("key 7");

  /** How long a call may take before it counts as one that never ends. */
  private static final long FOR_EVER_MILLIS = 60_000;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("StackOverflowTest");

  /** Depths to start at; few where each lookup within a lookup has a ZSTD context. */
  private List<Integer> depths(Layout layout) {
    return layout.isCompressed()
        ? Rounds.some(0, 5, 1, random)
        : Rounds.some(0, FRAMES - 1, 5, random);
  }

  private Path build(Layout layout) throws IOException {
    Truth truth = new Truth();
    for (int i = 0; i < 100; i++) {
      truth.add("key " + i, "a value that can be compressed ".repeat(i));
    }
    Path target = directory.resolve(layout.name());
    truth.build(target, BuildOptions.defaults().withLayout(layout));
    return target;
  }

  private static Database open(Path target) throws IOException {
    return Database.open(target, OpenOptions.defaults().withEngine(OpenOptions.Engine.MAPPED));
  }

  /** An action that may recurse without end. */
  @FunctionalInterface
  private interface Action {
    void run() throws Exception;
  }

  /** Runs an action in a thread of its own, and returns what it throws. */
  private static @Nullable Throwable thrown(Action action) throws InterruptedException {
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                action.run();
              } catch (Throwable e) {
                thrown.set(e);
              }
            },
            "overflowing",
            STACK);
    thread.setDaemon(true);
    thread.start();
    thread.join(FOR_EVER_MILLIS);
    if (thread.isAlive()) {
      AssertionError hangs = new AssertionError("does not end");
      hangs.setStackTrace(thread.getStackTrace());
      return hangs;
    }
    return thrown.get();
  }

  /** Runs an action with a few more frames below it. */
  private static void deeper(int frames, Action action) throws Exception {
    if (frames == 0) {
      action.run();
    } else {
      deeper(frames - 1, action);
    }
  }

  private static int readInRead(Database database) throws IOException {
    Integer found = database.read(KEY, value -> readInRead(database));
    return found == null ? 0 : found + 1;
  }

  @SuppressWarnings("InfiniteRecursion") // meant
  private static int getAtEachDepth(Database database) throws IOException {
    byte[] value = database.get(KEY);
    return (value == null ? 0 : value.length) + getAtEachDepth(database);
  }

  @SuppressWarnings("InfiniteRecursion") // meant
  private static int batchAtEachDepth(Database database) throws IOException {
    int found = database.getAll(List.of(KEY)).size();
    return found + batchAtEachDepth(database);
  }

  @ParameterizedTest
  @EnumSource
  void readersThatReadWithoutEnd(Layout layout) throws Exception {
    Path target = build(layout);
    for (int frames : depths(layout)) {
      Database database = open(target);
      assertThat(thrown(() -> deeper(frames, () -> readInRead(database))))
          .isInstanceOf(StackOverflowError.class);
      assertSound(database, frames);
    }
  }

  @ParameterizedTest
  @EnumSource
  void lookupsDeepInTheStack(Layout layout) throws Exception {
    Path target = build(layout);
    for (int frames : depths(layout)) {
      Database database = open(target);
      assertThat(thrown(() -> deeper(frames, () -> getAtEachDepth(database))))
          .isInstanceOf(StackOverflowError.class);
      assertThat(thrown(() -> deeper(frames, () -> batchAtEachDepth(database))))
          .isInstanceOf(StackOverflowError.class);
      assertSound(database, frames);
    }
  }

  private static void assertSound(Database database, int frames) throws Exception {
    byte[] expected = Truth.utf8("a value that can be compressed ".repeat(7));
    for (int i = 0; i < 3; i++) {
      assertThat(database.get(KEY)).isEqualTo(expected);
    }
    assertThat(thrown(database::close)).as("closing, %d frames deeper", frames).isNull();
  }

  /** Nor does one database run out of sessions. */
  @Test
  void oneDatabaseSurvivesThemAll() throws Exception {
    try (Database database = open(build(Layout.BLOCKED))) {
      for (int frames : depths(Layout.BLOCKED)) {
        assertThat(thrown(() -> deeper(frames, () -> readInRead(database))))
            .isInstanceOf(StackOverflowError.class);
        assertThat(database.get(KEY)).isNotNull();
      }
      assertThat(thrown(database::close)).isNull();
    }
  }
}
