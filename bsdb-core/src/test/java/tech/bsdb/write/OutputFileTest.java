package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Recording;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.SequentialFile;

/** Files of a build that share a write buffer. */
class OutputFileTest {
  @TempDir Path directory;

  @Test
  void aFileThatCannotTakeOverTheBufferIsClosedAndDeleted() throws Exception {
    byte[] much = new byte[1 << 20];
    try (ChunkBuffer chunk = ChunkBuffer.huge();
        OutputFile first = new OutputFile(directory, new FileIdentity(FileKind.DATA, 0), chunk)) {
      first.pages().put(much, 0, much.length);
      Thread.currentThread().interrupt(); // closes the first file as its bytes are written
      try {
        assertThatThrownBy(
                () -> new OutputFile(directory, new FileIdentity(FileKind.DATA, 1), chunk))
            .isInstanceOf(ClosedByInterruptException.class);
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
      assertThat(Leaks.openFiles(directory)).isEmpty();
      assertThat(directory).isDirectoryNotContaining(path -> !path.equals(first.path()));
    }
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aFileThatCannotBeClosedIsDeleted() throws Exception {
    try (ChunkBuffer chunk = ChunkBuffer.huge()) {
      Path path = directory.resolve("data-0.part");
      Recording channel = new Recording(Recording.create(path));
      OutputFile file =
          new OutputFile(
              new FileIdentity(FileKind.DATA, 0), new SequentialFile(path, chunk, channel));
      channel.failToClose();

      assertThatThrownBy(file::close).hasMessage("cannot be closed");
    }
    assertThat(directory).isEmptyDirectory();
    Leaks.assertNone(directory);
  }
}
