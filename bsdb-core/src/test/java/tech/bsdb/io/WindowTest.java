package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Seeds;

/** The checksum is that of the bytes shown, whichever memory they lie in. */
class WindowTest {
  private static final int PAGES = 6;

  @TempDir Path directory;

  @Test
  void checksumsWhatItShows() throws Exception {
    byte[] content = new byte[PAGES * PageSource.PAGE];
    SplittableRandom random = Seeds.random("WindowTest");
    random.nextBytes(content);
    Path file = Files.write(directory.resolve("file"), content);
    for (Engine engine : engines(file)) {
      Window window = new Window();
      try (PageSource source = engine.open(file, content.length)) {
        for (int i = 0; i < 200; i++) {
          int first = random.nextInt(PAGES - 1);
          int count = 1 + random.nextInt(PAGES - 1 - first);
          source.read(first, count, window);
          int at = random.nextInt(count * PageSource.PAGE);
          int length = random.nextInt(count * PageSource.PAGE - at + 1);
          assertThat(window.crc32c(window.offset() + at, length))
              .as("%s, %d bytes at %d of %d pages", engine.name(), length, at, count)
              .isEqualTo(crc(content, first * PageSource.PAGE + at, length));
          ByteBuffer buffer = window.buffer();
          byte[] shown = new byte[count * PageSource.PAGE];
          buffer.get(window.offset(), shown); // the buffer's limit is what it was
          assertThat(crc(shown, 0, shown.length))
              .isEqualTo(crc(content, first * PageSource.PAGE, shown.length));
        }
      }
    }
  }

  private static int crc(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }

  private static List<Engine> engines(Path file) throws IOException {
    List<Engine> engines =
        new ArrayList<>(
            List.of(
                new MappedEngine(), new LoadedEngine(), new BufferedEngine((SystemCalls) null)));
    if (LinuxCalls.unavailable() == null) {
      engines.add(new BufferedEngine());
    }
    if (new DirectEngine().unavailable(file) == null) {
      engines.add(new DirectEngine());
      engines.add(new DirectEngine(null, 1));
    }
    return engines;
  }
}
