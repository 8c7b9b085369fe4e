package tech.bsdb.tools.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens files with a key in each line, which may be compressed as any input. */
public final class KeyList {
  private KeyList() {}

  /**
   * Opens a list of keys; reading fails if compressed bytes are damaged or truncated.
   *
   * @throws InputException if it cannot be opened, or is compressed in a format that cannot be
   *     read; it names the file, as do those of reading
   */
  public static InputStream open(Path list) throws IOException {
    String name = list.toString();
    try {
      Compression known = Compression.of(list);
      InputStream stored = Files.newInputStream(list);
      try {
        return known == Compression.NONE
            ? of(stored, name)
            : new Named(known.decompress(stored), name);
      } catch (IOException | RuntimeException | Error failure) {
        stored.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw InputException.reading(name, failure);
    }
  }

  /**
   * Reads a list of keys that has no name which tells the compression.
   *
   * @param name what messages call it
   */
  public static InputStream of(InputStream stored, String name) throws IOException {
    try {
      return new Named(Compression.decompressByMagic(stored), name);
    } catch (IOException failure) {
      throw InputException.reading(name, failure);
    }
  }

  /** Names the file in failures to read it. */
  private static final class Named extends FilterInputStream {
    private final String name;

    Named(InputStream in, String name) {
      super(in);
      this.name = name;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      try {
        return super.read(to, from, length);
      } catch (IOException failure) {
        throw InputException.reading(name, failure);
      }
    }
  }
}
