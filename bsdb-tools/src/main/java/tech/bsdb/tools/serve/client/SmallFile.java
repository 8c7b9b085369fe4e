package tech.bsdb.tools.serve.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads files that must be small. */
final class SmallFile {
  private static final int MAX_BYTES = 1 << 20;

  private SmallFile() {}

  /**
   * Reads the bytes of a file or a pipe.
   *
   * @param what what it should contain
   * @throws FileSystemException naming the file, if it cannot be read or is too large
   */
  static byte[] read(Path file, String what) throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileSystemException(file.toString(), null, "is a directory, not " + what);
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new FileSystemException(file.toString(), null, "too large for " + what);
      }
      return bytes;
    }
  }
}
