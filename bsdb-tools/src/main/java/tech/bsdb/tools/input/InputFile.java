package tech.bsdb.tools.input;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One file to read, or standard input.
 *
 * @param name the name that users know
 * @param path null for standard input
 * @param size the size in bytes when the inputs were found; -1 if it is not a regular file
 */
record InputFile(String name, @Nullable Path path, long size, Compression compression) {
  private static final String STANDARD_INPUT = "stdin";

  /** Stands for standard input among the inputs. */
  private static final String DASH = "-";

  private static final byte[] PARQUET = {'P', 'A', 'R', '1'};

  /**
   * The files in the order of reading.
   *
   * @param databases receives the databases that were found below a directory and left out
   */
  static List<InputFile> find(List<String> inputs, List<Path> databases) throws IOException {
    if (inputs.isEmpty()) {
      throw new IllegalArgumentException("no input is given");
    }
    if (Collections.frequency(inputs, DASH) > 1) {
      throw new InputException("stdin: given twice as an input, but can be read only once");
    }
    List<InputFile> files = new ArrayList<>();
    for (String input : inputs) {
      if (input.equals(DASH)) {
        files.add(standardInput());
      } else {
        for (Path path : LocalFiles.find(LocalFiles.path(input), databases)) {
          files.add(found(path));
        }
      }
    }
    return List.copyOf(files);
  }

  private static InputFile found(Path path) throws InputException {
    try {
      if (isParquet(path)) {
        throw new InputException(
            path
                + ": is a Parquet file, not text (bsdb build and merge read it with --format"
                + " parquet; the load tools take its keys with -kf COLUMN)");
      }
      return of(path);
    } catch (IOException failure) {
      throw InputException.reading(path.toString(), failure);
    }
  }

  /** Whether a file begins and ends with the magic number of Parquet. */
  private static boolean isParquet(Path path) throws IOException {
    if (!Files.isRegularFile(path) || Files.size(path) < 3L * PARQUET.length) {
      return false;
    }
    // not through java.io.File, which cannot name a path that is not UTF-8
    try (SeekableByteChannel file = Files.newByteChannel(path)) {
      return hasMagic(file, 0) && hasMagic(file, file.size() - PARQUET.length);
    }
  }

  private static boolean hasMagic(SeekableByteChannel file, long place) throws IOException {
    ByteBuffer found = ByteBuffer.allocate(PARQUET.length);
    file.position(place);
    while (found.hasRemaining() && file.read(found) >= 0) {
      // a channel may read less than requested
    }
    return Arrays.equals(found.array(), PARQUET);
  }

  static InputFile standardInput() {
    return new InputFile(STANDARD_INPUT, null, -1, Compression.NONE);
  }

  static InputFile of(Path path) throws IOException {
    long size = Files.isRegularFile(path) ? Files.size(path) : -1;
    return new InputFile(path.toString(), path, size, Compression.of(path));
  }

  /** Whether reading may wait for another process to write, as with a pipe. */
  boolean mayBlock() {
    return size < 0;
  }

  /**
   * The file's text in UTF-8, decompressed, without a byte-order mark. Invalid text is returned as
   * bytes that are not UTF-8.
   *
   * @param bytesRead counts the bytes read from the file
   */
  InputStream open(Charset encoding, AtomicLong bytesRead) throws IOException {
    InputStream stored = path == null ? openStandardInput() : Files.newInputStream(path);
    try {
      boolean sizeIsKnown =
          path != null && Files.isRegularFile(path) && compression == Compression.NONE;
      long expected = sizeIsKnown ? Files.size(path) : 0;
      // Files generated when they are read, as in /proc, also have a size of 0.
      InputStream counted =
          expected > 0
              ? new FixedSize(stored, bytesRead, expected)
              : new Counted(stored, bytesRead);
      InputStream plain =
          size < 0 && compression == Compression.NONE
              ? Compression.decompressByMagic(counted)
              : compression.decompress(counted);
      return encoding.equals(StandardCharsets.UTF_8)
          ? withoutByteOrderMark(plain)
          : new Transcoder(plain, encoding);
    } catch (IOException | RuntimeException | Error failure) {
      stored.close();
      throw failure;
    }
  }

  /**
   * Reads a compressed file to its end to see whether it is damaged: its content cannot be trusted
   * before its checksum is verified. Does nothing if the input is not compressed or not a regular
   * file.
   *
   * @param stopped whether the result is no longer needed
   * @throws IOException if it is damaged
   */
  void checkCompression(BooleanSupplier stopped) throws IOException {
    if (compression == Compression.NONE || path == null || mayBlock()) {
      return;
    }
    byte[] piece = new byte[1 << 16];
    try (InputStream stored = Files.newInputStream(path);
        InputStream plain = compression.decompress(stored)) {
      while (!stopped.getAsBoolean() && plain.read(piece) >= 0) {
        // only its end matters
      }
    }
  }

  private static InputStream openStandardInput() {
    return new FilterInputStream(System.in) {
      @Override
      public void close() {
        // standard input belongs to the process
      }
    };
  }

  private static InputStream withoutByteOrderMark(InputStream utf8) throws IOException {
    PushbackInputStream peeked = new PushbackInputStream(utf8, 3);
    byte[] start = peeked.readNBytes(3);
    int mark = byteOrderMarkLength(start);
    peeked.unread(start, mark, start.length - mark);
    return peeked;
  }

  /** The length of the UTF-8 byte-order mark that the bytes begin with, or 0. */
  static int byteOrderMarkLength(byte[] bytes) {
    boolean mark =
        bytes.length >= 3
            && bytes[0] == (byte) 0xEF
            && bytes[1] == (byte) 0xBB
            && bytes[2] == (byte) 0xBF;
    return mark ? 3 : 0;
  }

  /** Counts the bytes read. */
  private static class Counted extends FilterInputStream {
    private final AtomicLong bytesRead;

    Counted(InputStream in, AtomicLong bytesRead) {
      super(in);
      this.bytesRead = bytesRead;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      int count = in.read(to, from, length);
      bytesRead.addAndGet(Math.max(0, count));
      return count;
    }
  }

  /**
   * Reads a file that should not change meanwhile. Appended bytes are left out. If the file is cut
   * short, or grows after ending in the middle of a line, a record would be wrong, so reading
   * fails.
   */
  private static final class FixedSize extends Counted {
    private long left;
    private byte last = '\n';

    FixedSize(InputStream in, AtomicLong bytesRead, long size) {
      super(in, bytesRead);
      this.left = size;
    }

    @Override
    public int read(byte[] to, int from, int length) throws IOException {
      if (left == 0) {
        if (last != '\n' && in.read() >= 0) {
          throw new IOException("the file grew while it was read");
        }
        return -1;
      }
      int count = super.read(to, from, (int) Math.min(left, length));
      if (count < 0) {
        throw new IOException("the file was cut short while it was read");
      }
      if (count > 0) {
        left -= count;
        last = to[from + count - 1];
      }
      return count;
    }
  }
}
