package tech.bsdb.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Truth;
import tech.bsdb.directory.EngineChoice;

/**
 * A fault in a mapped file that the virtual machine reports during a call of native code. On Java
 * 22 and newer, zstd-jni wraps it in an {@link AssertionError}.
 */
@Tag("jdk")
class NativeFaultTest {
  @TempDir Path directory;

  @Test
  void itIsAnIoException() throws Exception {
    Path target = directory.resolve("db");
    byte[] key = Truth.utf8("key");
    new Truth().add("key", "value").build(target, BuildOptions.defaults());
    FailingEngine engine = new FailingEngine();
    try (Lookup lookup = Lookup.open(target, EngineChoice.always(engine), true)) {
      List<ThrowingCallable> lookups =
          List.of(
              () -> lookup.get(key),
              () -> lookup.get(key, bytes -> true),
              () -> lookup.getAll(List.of(key)),
              () -> lookup.show(key, "visitor", (visitor, value) -> value.get(0)));
      InternalError fault = new InternalError("a fault occurred in an unsafe memory access");
      engine.failWith(new AssertionError("Call to ZSTD_compressBound failed", fault));
      for (ThrowingCallable each : lookups) {
        assertThatThrownBy(each)
            .isInstanceOf(IOException.class)
            .hasMessageContaining(target + ": a mapped file cannot be read")
            .hasCause(fault);
      }
      assertThat(lookup.getAsync(key, null))
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(IOException.class);
      AssertionError other = new AssertionError("no fault");
      engine.failWith(other);
      for (ThrowingCallable each : lookups) {
        assertThatThrownBy(each).isSameAs(other);
      }
      engine.failWith(null);
      assertThat(lookup.get(key)).isEqualTo(Truth.utf8("value"));
    }
  }
}
