package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Recording;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** New files are written in chunks that make huge pages, also where several share one buffer. */
class SequentialFileTest {
  private static final int HUGE = ChunkBuffer.HUGE_PAGE;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SequentialFileTest");

  private record Written(SequentialFile file, Recording channel, ByteArrayOutputStream content) {
    void write(byte[] bytes, int from, int length) throws IOException {
      file.write(bytes, from, length);
      content.write(bytes, from, length);
    }
  }

  private Written create(String name, ChunkBuffer chunk) throws IOException {
    Path path = directory.resolve(name);
    Recording channel = new Recording(Recording.create(path));
    return new Written(
        new SequentialFile(path, chunk, channel), channel, new ByteArrayOutputStream());
  }

  @Test
  void aFileIsWrittenInHugePagesWhateverThePartsItComesIn() throws Exception {
    byte[] bytes = Truth.bytes(random, 3 * HUGE);
    try (ChunkBuffer chunk = ChunkBuffer.huge()) {
      Written written = create("one", chunk);
      try (SequentialFile file = written.file) {
        int length = 4 * HUGE + HUGE / 2 + 1;
        while (written.content.size() < length) {
          int part = 1 + random.nextInt(random.nextInt(8) == 0 ? bytes.length : 20_000);
          part = Math.min(part, length - written.content.size());
          written.write(bytes, random.nextInt(bytes.length - part + 1), part);
        }
        file.flush();
        assertThat(written.channel.writes())
            .containsExactly(
                new Recording.Write(0, HUGE),
                new Recording.Write(HUGE, HUGE),
                new Recording.Write(2L * HUGE, HUGE),
                new Recording.Write(3L * HUGE, HUGE),
                new Recording.Write(4L * HUGE, HUGE / 2 + 1));
        written.write(bytes, 0, 2 * HUGE); // goes on at the next multiple
        file.flush();
        assertThat(written.channel.writes())
            .endsWith(
                new Recording.Write(4L * HUGE + HUGE / 2 + 1, HUGE / 2 - 1),
                new Recording.Write(5L * HUGE, HUGE),
                new Recording.Write(6L * HUGE, HUGE / 2 + 1));
        file.rewriteStart(new byte[] {1, 2, 3});
        assertThat(written.channel.forces()).isZero();
        file.force();
        assertThat(written.channel.forces()).isOne();
      }
      byte[] expected = written.content.toByteArray();
      expected[0] = 1;
      expected[1] = 2;
      expected[2] = 3;
      assertThat(directory.resolve("one")).hasBinaryContent(expected);
    }
    Leaks.assertNone(directory);
  }

  @Test
  void filesThatTakeTurnsShareOneBufferAndLoseNoHugePage() throws Exception {
    byte[] bytes = Truth.bytes(random, 2 * HUGE + (1 << 18));
    List<Written> files = new ArrayList<>();
    try (ChunkBuffer chunk = ChunkBuffer.huge()) {
      for (int i = 0; i < 5; i++) {
        files.add(create("file" + i, chunk));
      }
      long[] ends = new long[files.size()];
      for (int turn = 1; turn <= 3; turn++) {
        for (int i = 0; i < files.size(); i++) {
          ends[i] = 2L * HUGE * turn + 1 + random.nextInt(1 << 18); // a stripe, and a little more
          Written written = files.get(i);
          while (written.content.size() < ends[i]) {
            int part = (int) Math.min(ends[i] - written.content.size(), 1 + random.nextInt(9000));
            written.write(bytes, random.nextInt(bytes.length - part), part);
          }
        }
      }
      for (Written written : files) {
        assertThat(written.channel.writes()).hasSize(6);
        for (Recording.Write write : written.channel.writes()) {
          assertThat(write.position() % HUGE).isZero();
          assertThat(write.length()).isEqualTo(HUGE);
        }
      }
      for (Written written : files) {
        written.file.flush();
        written.file.close();
      }
    }
    for (int i = 0; i < files.size(); i++) {
      assertThat(directory.resolve("file" + i))
          .hasBinaryContent(files.get(i).content.toByteArray());
    }
  }

  @Test
  void whatIsLongOverItsTurnIsWrittenSoThatMemoryStaysSmall() throws Exception {
    byte[] bytes = Truth.bytes(random, HUGE);
    try (ChunkBuffer chunk = ChunkBuffer.huge()) {
      Written one = create("one", chunk);
      Written two = create("two", chunk);
      for (int i = 0; i < 6; i++) {
        one.write(bytes, 0, (1 << 18) + 1);
        two.write(bytes, 0, 1);
      }
      assertThat(one.channel.writes()).isNotEmpty();
      assertThat(two.channel.writes()).isEmpty();
      one.file.flush();
      two.file.flush();
      one.file.close();
      two.file.close();
      assertThat(directory.resolve("one")).hasBinaryContent(one.content.toByteArray());
      assertThat(directory.resolve("two")).hasBinaryContent(two.content.toByteArray());
    }
  }

  @Test
  void aFileThatIsClosedTakesNothingIntoTheNext() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge()) {
      try (SequentialFile lost = create("lost", chunk).file) {
        lost.write(new byte[100], 0, 100);
      }
      try (SequentialFile next = create("next", chunk).file) {
        next.write(new byte[] {7}, 0, 1);
        next.flush();
      }
    }
    assertThat(directory.resolve("lost")).isEmptyFile();
    assertThat(directory.resolve("next")).hasBinaryContent(new byte[] {7});
  }

  @Test
  void aSmallFileTakesLittleMemory() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        SequentialFile file = create("small", chunk).file) {
      file.write(new byte[1000], 0, 1000);
      ByteBuffer memory = chunk.of(file);
      assertThat(memory.capacity()).isEqualTo(1 << 18);
    }
  }
}
