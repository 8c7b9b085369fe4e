package tech.bsdb.tools.input;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The chunks of all files, one after another. For one thread at a time. */
final class ChunkSource implements Closeable {
  private final List<InputFile> files;
  private final Charset encoding;
  private final RecordSyntax syntax;
  private final int chunkBytes;
  private final int longest;
  private final AtomicLong bytesRead = new AtomicLong();

  private int opened;
  private @Nullable ChunkReader reader;
  private @Nullable CsvHeader header;
  private boolean atStart;

  ChunkSource(
      List<InputFile> files, Charset encoding, RecordSyntax syntax, int chunkBytes, int longest) {
    this.files = files;
    this.encoding = encoding;
    this.syntax = syntax;
    this.chunkBytes = chunkBytes;
    this.longest = longest;
  }

  /** Whether filling a chunk may wait for somebody else to write. */
  boolean mayBlock() {
    return files.stream().anyMatch(InputFile::mayBlock);
  }

  long bytesRead() {
    return bytesRead.get();
  }

  /**
   * Fills the chunk with the next piece of input; false if there is no more.
   *
   * @throws InputException naming the file that cannot be read, is damaged, or has a bad header
   */
  boolean fill(Chunk chunk) throws InputException {
    chunk.clear();
    while (reader != null || opened < files.size()) {
      InputFile file = files.get(reader == null ? opened : opened - 1);
      try {
        ChunkReader current = reader == null ? open(file) : reader;
        if (current.fill(chunk)) {
          describe(chunk, file);
          return true;
        }
        close();
      } catch (IOException failure) {
        throw InputException.reading(file.name(), failure);
      }
    }
    return false;
  }

  /** The file opened last; to be asked once nothing is filled any more. */
  Optional<InputFile> current() {
    return opened == 0 ? Optional.empty() : Optional.of(files.get(opened - 1));
  }

  private ChunkReader open(InputFile file) throws IOException {
    ChunkReader next =
        new ChunkReader(
            file.open(encoding, bytesRead), syntax.newRecordEnds(), chunkBytes, longest);
    reader = next;
    opened++;
    atStart = true;
    return next;
  }

  private void describe(Chunk chunk, InputFile file) throws InputException {
    chunk.file = opened - 1;
    chunk.bytesRead = bytesRead.get();
    if (atStart) {
      header = syntax.takeHeader(chunk, file.name());
      atStart = false;
    }
    chunk.header = header;
  }

  @Override
  public void close() throws IOException {
    if (reader != null) {
      ChunkReader open = reader;
      reader = null;
      open.close();
    }
  }
}
