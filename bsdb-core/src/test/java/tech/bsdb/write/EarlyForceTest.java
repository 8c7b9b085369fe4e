package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Recording;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.SequentialFile;

/** Files are forced while they grow, and a force that failed fails the build. */
class EarlyForceTest {
  private static final long STEP = 64 << 20;

  @TempDir Path directory;

  private Recording channel;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  private OutputFile file(ChunkBuffer chunk) throws IOException {
    Path path = directory.resolve("data-0.part");
    channel = new Recording(Recording.create(path));
    return new OutputFile(
        new FileIdentity(FileKind.DATA, 0), new SequentialFile(path, chunk, channel));
  }

  @Test
  void aFileIsForcedOnceItHasGrown() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        OutputFile file = file(chunk)) {
      try (EarlyForce early = new EarlyForce()) {
        early.written(file, STEP - 1);
        early.written(file, STEP);
        early.written(file, STEP + 1);
      }
      assertThat(channel.forces()).isOne();
    }
  }

  @Test
  void filesAreForcedAtOnceIfWanted() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        OutputFile file = file(chunk)) {
      try (EarlyForce early = new EarlyForce()) {
        early.start(List.of(file, file));
      }
      assertThat(channel.forces()).isEqualTo(2);
    }
  }

  @Test
  void aFailureIsThrownAtTheEndAtTheLatest() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        OutputFile file = file(chunk)) {
      channel.failToForce();
      EarlyForce early = new EarlyForce();
      early.written(file, STEP);
      assertThatThrownBy(early::close)
          .isInstanceOf(IOException.class)
          .hasMessage("cannot be forced");
    }
  }
}
