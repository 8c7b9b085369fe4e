package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.DirectEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.ReadQueue;
import tech.bsdb.io.Window;

/**
 * A device that fails, hangs for a while, or returns garbage, again and again while many lookups
 * are under way: each ends, with the right value or the right error.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailingDeviceTest {
  /** What becomes of some reads. */
  enum Fault {
    FAILS,
    HANGS,
    GARBAGE
  }

  /** Reads as a device does: verified every time, many under way. */
  private static final class Device implements Engine {
    private static final int EVERY = 97;
    private final Engine engine = new BufferedEngine();
    private final Engine reading = new DirectEngine(4);
    private final Fault fault;
    private final boolean everything;
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger faults = new AtomicInteger();

    Device(Fault fault, boolean everything) {
      this.fault = fault;
      this.everything = everything;
    }

    @Override
    public String name() {
      return "device";
    }

    @Override
    public boolean verifiesEveryRead() {
      return true;
    }

    @Override
    public PageSource open(Path file, long length) throws IOException {
      PageSource source = engine.open(file, length);
      return new PageSource() {
        @Override
        public void read(long first, int count, Window window) throws IOException {
          source.read(first, count, window);
          if (everything || reads.incrementAndGet() % EVERY == 0) {
            faults.incrementAndGet();
            breakOne(window, count);
          }
        }

        @Override
        public void close() throws IOException {
          source.close();
        }
      };
    }

    @Override
    public ReadQueue queue(int depth, boolean oneThread) throws IOException {
      return reading.queue(depth, oneThread);
    }

    private void breakOne(Window window, int count) throws IOException {
      switch (fault) {
        case FAILS -> throw new IOException("the device failed");
        case GARBAGE -> {
          for (int i = 0; i < count * PageSource.PAGE; i++) {
            window.buffer().put(window.offset() + i, (byte) 7);
          }
        }
        case HANGS -> {
          try {
            TimeUnit.MILLISECONDS.sleep(everything ? 1 : 20);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        }
      }
    }
  }

  @TempDir Path directory;
  private Truth truth;
  private Path target;

  private void build(Layout layout) throws Exception {
    truth = Truth.random(Seeds.random("FailingDeviceTest"), 5000, 60);
    target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout).withDataFiles(2));
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
  }

  private static void expect(Fault fault, Throwable found) {
    if (fault == Fault.GARBAGE) {
      assertThat(found).isInstanceOf(CorruptDatabaseException.class);
    } else {
      assertThat(fault).isEqualTo(Fault.FAILS);
      assertThat(found).isInstanceOf(IOException.class).hasMessageContaining("the device failed");
    }
  }

  @Sampled(2)
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, FAILS, false",
    "BLOCKED, FAILS, true",
    "BLOCKED, HANGS, false",
    "BLOCKED, GARBAGE, false",
    "BLOCKED, GARBAGE, true",
    "PACKED, FAILS, false",
    "PACKED, GARBAGE, true",
    "PACKED_COMPRESSED, FAILS, true",
    "PACKED_COMPRESSED, GARBAGE, false"
  })
  void everyRequestEnds(Layout layout, Fault fault, boolean everything) throws Exception {
    build(layout);
    Device device = new Device(fault, everything);
    int failed = 0;
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(device), true)) {
      List<CompletableFuture<byte[]>> futures = new ArrayList<>();
      for (Truth.Entry record : truth.records()) {
        futures.add(lookup.getAsync(record.key(), null));
      }
      for (int i = 0; i < futures.size(); i++) {
        try {
          byte[] found = futures.get(i).get(60, TimeUnit.SECONDS);
          Truth.same(found, truth.records().get(i).value(), "value");
        } catch (ExecutionException e) {
          expect(fault, e.getCause());
          failed++;
        }
      }
    }
    assertThat(device.faults.get()).isPositive();
    assertThat(failed).isEqualTo(fault == Fault.HANGS ? 0 : device.faults.get());
  }

  @Sampled(2)
  @ParameterizedTest
  @CsvSource({
    "BLOCKED, FAILS, false",
    "BLOCKED, FAILS, true",
    "BLOCKED, HANGS, false",
    "BLOCKED, GARBAGE, false",
    "BLOCKED, GARBAGE, true",
    "PACKED, FAILS, false",
    "PACKED, GARBAGE, true",
    "PACKED_COMPRESSED, FAILS, true",
    "PACKED_COMPRESSED, GARBAGE, false"
  })
  void everyBatchIsRightOrFails(Layout layout, Fault fault, boolean everything) throws Exception {
    build(layout);
    Device device = new Device(fault, everything);
    int failed = 0;
    int right = 0;
    List<byte[]> keys = truth.records().stream().map(Truth.Entry::key).toList();
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(device), true)) {
      for (int from = 0; from + 20 <= keys.size(); from += 20) {
        try {
          List<byte[]> found = lookup.getAll(keys.subList(from, from + 20));
          for (int i = 0; i < 20; i++) {
            Truth.same(found.get(i), truth.records().get(from + i).value(), "value");
          }
          right++;
        } catch (IOException e) {
          expect(fault, e);
          failed++;
        }
      }
    }
    assertThat(failed > 0).isEqualTo(fault != Fault.HANGS);
    assertThat(right > 0).isEqualTo(!everything);
  }
}
