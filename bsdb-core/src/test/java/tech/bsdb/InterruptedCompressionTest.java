package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who closes a build while it is interrupted frees nothing that a thread still compresses with. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedCompressionTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("InterruptedCompressionTest");

  private static BuildOptions slow(Layout layout) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withCompressionLevel(22)
        .withThreads(2)
        .withDictionaryBytes(0);
  }

  /** Adds records that take long to compress. */
  private void addAll(DatabaseBuilder builder) throws IOException {
    byte[] words = Truth.bytes(random, 2000);
    for (int i = 0; i < 1200; i++) {
      byte[] value = new byte[1000];
      for (int at = 0; at < value.length; at++) {
        value[at] = words[(at * 7 + random.nextInt(3) + i) % words.length];
      }
      builder.add(Truth.utf8("key" + i), value);
    }
  }

  @Test
  void closingWaitsForTheThreadsThatCompress() throws Exception {
    BuildOptions options = slow(Layout.COMPRESSED).withBlockSize(1 << 18);
    try {
      try (DatabaseBuilder builder = DatabaseBuilder.create(directory.resolve("db"), options)) {
        addAll(builder);
        Thread.currentThread().interrupt();
      }
      assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .doesNotContain("bsdb-compress");
    } finally {
      Thread.interrupted();
    }
    Leaks.assertNone(directory);
  }

  /** The packed layout compresses while it is finished, in several passes at once. */
  @Test
  void finishingWaitsForTheThreadsThatPack() throws Exception {
    BuildOptions options =
        slow(Layout.PACKED_COMPRESSED).withBlockSize(1 << 15).withMemoryBytes(4 << 20);
    AtomicBoolean packing = new AtomicBoolean();
    try {
      try (DatabaseBuilder builder =
          DatabaseBuilder.create(
              directory.resolve("db"),
              options,
              (stage, done, total) -> {
                if (stage == BuildListener.Stage.INDEX && done < total) {
                  packing.set(Leaks.threads().contains("bsdb-pack"));
                  Thread.currentThread().interrupt();
                }
              })) {
        addAll(builder);
        assertThatThrownBy(builder::finish).isInstanceOf(InterruptedIOException.class);
        assertThat(Leaks.threads()).doesNotContain("bsdb-pack");
      }
      assertThat(packing).as("interrupted while threads pack").isTrue();
      assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
    } finally {
      Thread.interrupted();
    }
    assertThat(directory).isEmptyDirectory();
    Leaks.assertNone(directory);
  }
}
