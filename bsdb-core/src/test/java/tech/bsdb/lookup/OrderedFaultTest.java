package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.KeyRange;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * An engine that fails its n-th read, for every n, while a range is read: the error arrives, and
 * what comes after it never looks like the end, nor like a record.
 */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrderedFaultTest {
  private static final int RECORDS = 160;

  private static final class Fault extends IOException {
    private static final long serialVersionUID = 1L;
  }

  /** Fails one read. */
  private static final class OnceFailing implements Engine {
    private final Engine engine = new BufferedEngine();
    private int left = Integer.MAX_VALUE;

    @Override
    public String name() {
      return "once failing";
    }

    @Override
    public PageSource open(Path file, long length) throws IOException {
      PageSource source = engine.open(file, length);
      return new PageSource() {
        @Override
        public void read(long first, int count, Window window) throws IOException {
          if (--left == 0) {
            throw new Fault();
          }
          source.read(first, count, window);
        }

        @Override
        public void close() throws IOException {
          source.close();
        }
      };
    }
  }

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("OrderedFaultTest");
  private final NavigableSet<byte[]> keys = RandomKeys.groups(random, RECORDS, 20, 300, 200);

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private Path build(Layout layout, int shards) throws IOException {
    Path target = directory.resolve("db");
    Truth truth = new Truth();
    for (byte[] key : keys) {
      truth.add(key, new byte[random.nextInt(40)]);
    }
    truth.build(
        target,
        BuildOptions.defaults().withLayout(layout).withShards(shards).withOrderedKeys(true));
    return target;
  }

  @ParameterizedTest
  @CsvSource({"BLOCKED,1", "BLOCKED,3", "PACKED,1", "PACKED,2"})
  void everyReadFailsOnce(Layout layout, int shards) throws Exception {
    Path target = build(layout, shards);
    for (boolean values : new boolean[] {true, false}) {
      for (boolean descending : new boolean[] {false, true}) {
        boolean failed = true;
        int n = 1;
        for (; failed; n++) {
          OnceFailing engine = new OnceFailing();
          try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
            failed = fails(lookup, engine, n, descending, values);
            engine.left = Integer.MAX_VALUE;
            assertThat(new OrderedKeys(lookup).count(KeyRange.all())).isEqualTo(RECORDS);
          }
        }
        assertThat(n).as("reads").isGreaterThan(values && layout == Layout.PACKED ? 30 : 10);
      }
    }
  }

  /** Walks over all records; true if the n-th read, which fails, was among its reads. */
  private boolean fails(
      Lookup lookup, OnceFailing engine, int n, boolean descending, boolean values)
      throws IOException {
    OrderedWalk walk = new OrderedWalk(lookup, KeyRange.all(), descending, values, Long.MAX_VALUE);
    List<byte[]> expected = List.copyOf(descending ? keys.descendingSet() : keys);
    engine.left = n;
    int found = 0;
    try {
      while (walk.next()) {
        Truth.same(walk.key(), expected.get(found++), "key");
      }
    } catch (Fault e) {
      for (int i = 0; i < 3; i++) {
        assertThatThrownBy(walk::next)
            .as("after %s records", found)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("failed before");
        assertThatThrownBy(walk::key).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(walk::value).isInstanceOf(IllegalStateException.class);
      }
      walk.close();
      return true;
    }
    assertThat(found).isEqualTo(RECORDS);
    walk.close();
    return false;
  }

  @ParameterizedTest
  @CsvSource({"BLOCKED,1", "PACKED,3"})
  void questionsFailOnceAndAreAnsweredThen(Layout layout, int shards) throws Exception {
    Path target = build(layout, shards);
    byte[] middle = List.copyOf(keys).get(RECORDS / 2);
    boolean failed = true;
    for (int n = 1; failed; n++) {
      OnceFailing engine = new OnceFailing();
      try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
        OrderedKeys ordered = new OrderedKeys(lookup);
        engine.left = n;
        failed = false;
        for (int i = 0; i < 2; i++) {
          try {
            Truth.same(ordered.first(), keys.first(), "first");
            Truth.same(ordered.last(), keys.last(), "last");
            Truth.same(ordered.floor(middle), middle, "floor");
            Truth.same(ordered.ceiling(middle), middle, "ceiling");
            assertThat(ordered.count(KeyRange.all().from(middle))).isEqualTo(RECORDS / 2);
          } catch (Fault e) {
            assertThat(failed).isFalse();
            failed = true;
          }
        }
      }
    }
  }
}
