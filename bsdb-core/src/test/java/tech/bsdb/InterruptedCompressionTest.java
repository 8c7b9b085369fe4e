package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Who closes a build while it is interrupted frees nothing that a thread still compresses with. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedCompressionTest {
  @TempDir Path directory;

  @Test
  void closingWaitsForTheThreadsThatCompress() throws Exception {
    SplittableRandom random = Seeds.random("InterruptedCompressionTest");
    BuildOptions options =
        BuildOptions.defaults()
            .withLayout(Layout.COMPRESSED)
            .withBlockSize(1 << 18)
            .withCompressionLevel(22)
            .withThreads(2)
            .withDictionaryBytes(0);
    byte[] words = Truth.bytes(random, 2000);
    try {
      try (DatabaseBuilder builder = DatabaseBuilder.create(directory.resolve("db"), options)) {
        for (int i = 0; i < 1200; i++) {
          byte[] value = new byte[1000];
          for (int at = 0; at < value.length; at++) {
            value[at] = words[(at * 7 + random.nextInt(3) + i) % words.length];
          }
          builder.add(Truth.utf8("key" + i), value);
        }
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
}
