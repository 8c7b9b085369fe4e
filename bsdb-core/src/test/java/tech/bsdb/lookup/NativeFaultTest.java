package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.Engine;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * A fault in a mapped file that the virtual machine reports during a call of native code. On Java
 * 22 and newer, zstd-jni wraps it in an {@link AssertionError}.
 */
class NativeFaultTest {
  @TempDir Path directory;

  /** An engine whose reads fail with an error. */
  private static final class Failing implements Engine {
    private final Engine engine = new BufferedEngine();
    private final AtomicReference<@Nullable AssertionError> failure = new AtomicReference<>();

    @Override
    public String name() {
      return "failing";
    }

    @Override
    public PageSource open(Path file, long length) throws IOException {
      PageSource source = engine.open(file, length);
      return new PageSource() {
        @Override
        public void read(long first, int count, Window window) throws IOException {
          AssertionError error = failure.get();
          if (error != null) {
            throw error;
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

  @Test
  void itIsAnIoException() throws Exception {
    Path target = directory.resolve("db");
    byte[] key = Truth.utf8("key");
    new Truth().add("key", "value").build(target, BuildOptions.defaults());
    Failing engine = new Failing();
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
      List<ThrowingCallable> lookups =
          List.of(
              () -> lookup.get(key),
              () -> lookup.get(key, bytes -> true),
              () -> lookup.getAll(List.of(key)),
              () -> lookup.show(key, "visitor", (visitor, value) -> value.get(0)));
      InternalError fault = new InternalError("a fault occurred in an unsafe memory access");
      engine.failure.set(new AssertionError("Call to ZSTD_compressBound failed", fault));
      for (ThrowingCallable each : lookups) {
        assertThatThrownBy(each)
            .isInstanceOf(IOException.class)
            .hasMessageContaining(target + ": a mapped file cannot be read")
            .hasCause(fault);
      }
      assertThat(lookup.getAsync(key))
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IOException.class);
      AssertionError other = new AssertionError("no fault");
      engine.failure.set(other);
      for (ThrowingCallable each : lookups) {
        assertThatThrownBy(each).isSameAs(other);
      }
      engine.failure.set(null);
      assertThat(lookup.get(key)).isEqualTo(Truth.utf8("value"));
    }
  }
}
