package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Recording;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.io.ChunkBuffer;

/** What a publication copies lies in huge pages, too. */
class FileCopyTest {
  private static final int HUGE = ChunkBuffer.HUGE_PAGE;

  @TempDir Path directory;

  @Test
  void aCopyIsWrittenInHugePages() throws Exception {
    SplittableRandom random = Seeds.random("FileCopyTest");
    byte[] content = Truth.bytes(random, 2 * HUGE + 4096);
    Path source = Files.write(directory.resolve("source"), content);
    Path target = directory.resolve("target");
    AtomicLong told = new AtomicLong();
    try (Recording out = new Recording(Recording.create(target))) {
      FileCopy.copy(source, out, FileCopy.chunk(), told::addAndGet);
      assertThat(out.writes())
          .containsExactly(
              new Recording.Write(0, HUGE),
              new Recording.Write(HUGE, HUGE),
              new Recording.Write(2L * HUGE, 4096));
      assertThat(out.forces()).isOne();
    }
    assertThat(target).hasBinaryContent(content);
    assertThat(told).hasValue(content.length);
  }
}
