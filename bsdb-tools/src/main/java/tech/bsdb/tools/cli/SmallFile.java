package tech.bsdb.tools.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file that is read as a whole, such as one of tokens. */
public final class SmallFile {
  private static final int MOST_BYTES = 1 << 20;

  private SmallFile() {}

  /**
   * Reads the bytes of a file or a pipe, which must be small.
   *
   * @param what what it should contain
   * @throws FileSystemException naming the file, if it cannot be read or is too large
   */
  public static byte[] read(Path file, String what) throws IOException {
    if (Files.isDirectory(file)) {
      throw new FileSystemException(file.toString(), null, "is a directory, not " + what);
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new FileSystemException(file.toString(), null, "too large for " + what);
      }
      return bytes;
    } catch (FileSystemException e) {
      throw e;
    } catch (IOException e) {
      throw new FileSystemException(file.toString(), null, String.valueOf(e.getMessage()));
    }
  }
}
