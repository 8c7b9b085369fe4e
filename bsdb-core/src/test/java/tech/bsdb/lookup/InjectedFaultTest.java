package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.MappedEngine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * An engine that fails its n-th call, for every n: the error arrives, the rest goes on, and nothing
 * is left.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InjectedFaultTest {
  private static final class Fault extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** Fails one call of another engine, or of its files. */
  private static final class FailingEngine implements Engine {
    private final Engine engine;
    private final boolean unchecked;
    private int left;
    private int open;

    FailingEngine(Engine engine, int n, boolean unchecked) {
      this.engine = engine;
      this.left = n;
      this.unchecked = unchecked;
    }

    private void call() throws IOException {
      if (--left == 0) {
        if (unchecked) {
          throw new IllegalStateException("fault");
        }
        throw new Fault();
      }
    }

    @Override
    public String name() {
      return "failing";
    }

    @Override
    public PageSource open(Path file, long length) throws IOException {
      call();
      PageSource source = engine.open(file, length);
      open++;
      return new PageSource() {
        @Override
        public void read(long first, int count, Window window) throws IOException {
          call();
          source.read(first, count, window);
        }

        @Override
        public void close() throws IOException {
          open--;
          source.close();
          call();
        }
      };
    }
  }

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("InjectedFaultTest");
  private final Truth truth = Truth.random(random, 40, 6000);

  static List<Arguments> cases() {
    List<Arguments> cases = new ArrayList<>();
    for (Layout layout : Layout.values()) {
      for (boolean mapped : new boolean[] {false, true}) {
        cases.add(Arguments.of(layout, mapped, 0));
      }
    }
    cases.add(Arguments.of(Layout.BLOCKED, false, 9));
    return cases;
  }

  private Path build(Layout layout, int width) throws IOException {
    Path target = directory.resolve("db");
    truth.build(
        target,
        BuildOptions.defaults()
            .withLayout(layout)
            .withDataFiles(3)
            .withChecksumBits(0)
            .withApproximateWidth(width)
            .withOrderedKeys(width == 0)
            .withDictionaryBytes(1024));
    return target;
  }

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void everyCallFailsOnce(Layout layout, boolean mapped, int width) throws Exception {
    Path target = build(layout, width);
    boolean failed = true;
    int n = 0;
    for (; failed; n += Rounds.everything() ? 1 : 1 + random.nextInt(15)) {
      assertThat(n).as("calls").isLessThan(10_000);
      FailingEngine engine =
          new FailingEngine(mapped ? new MappedEngine() : new BufferedEngine(), n + 1, false);
      failed = failsOnce(target, engine, width);
      assertThat(engine.open).as("files left open after call %s", n + 1).isZero();
      Leaks.assertNone(directory);
    }
    assertThat(n).as("calls").isGreaterThan(40);
  }

  /** Opens, looks all keys up twice, and closes; true if that met the fault. */
  private boolean failsOnce(Path target, FailingEngine engine, int width) throws IOException {
    int faults = 0;
    Lookup lookup;
    try {
      lookup = Lookup.open(target, EngineChoice.always(engine), true);
    } catch (Fault e) {
      return true;
    }
    for (int round = 0; round < 2; round++) {
      for (Truth.Entry record : truth.records()) {
        byte[] value;
        try {
          value = lookup.get(record.key());
        } catch (Fault e) {
          faults++;
          value = lookup.get(record.key());
        }
        byte[] expected = record.value();
        Truth.same(
            value,
            width == 0
                ? expected
                : java.util.Arrays.copyOf(expected, Math.min(width, expected.length)),
            "value");
      }
    }
    try {
      lookup.close();
    } catch (IOException e) {
      faults++;
      assertThat(e).hasMessageContaining(target.toString());
    }
    lookup.close();
    assertThat(faults).isLessThanOrEqualTo(1);
    return faults == 1;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void uncheckedFaultsLeaveNothingEither(Layout layout, boolean mapped, int width)
      throws Exception {
    Path target = build(layout, width);
    for (int n = 1; n <= 4; n++) {
      FailingEngine engine =
          new FailingEngine(mapped ? new MappedEngine() : new BufferedEngine(), n, true);
      Lookup lookup = null;
      try {
        lookup = Lookup.open(target, EngineChoice.always(engine), true);
        lookup.get(truth.records().get(0).key());
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("fault");
      }
      if (lookup != null) {
        try {
          lookup.close();
        } catch (IOException e) {
          assertThat(e).hasMessageContaining(target.toString());
        }
        lookup.close();
      }
      assertThat(engine.open).isZero();
      Leaks.assertNone(directory);
    }
  }

  @Test
  void aChoiceThatFailsLeavesNothing() throws Exception {
    Path target = build(Layout.BLOCKED, 0);
    assertThatThrownBy(
            () ->
                Lookup.open(
                    target,
                    database -> {
                      throw new Fault();
                    },
                    true))
        .isInstanceOf(Fault.class);
  }
}
