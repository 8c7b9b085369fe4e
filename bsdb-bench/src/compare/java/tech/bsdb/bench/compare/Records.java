package tech.bsdb.bench.compare;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * The records of a text file, one {@code key<TAB>value} line each. Every iterator reads the file
 * from the start.
 *
 * @param file the text file
 * @param count its lines
 */
record Records(Path file, int count) implements Iterable<Records.KeyValue> {
  private static final int BUFFER = 1 << 20;

  /** A record; the receiver owns its arrays. */
  record KeyValue(byte[] key, byte[] value) {}

  /** Returns the records of a file after counting its lines. */
  static Records of(Path file) throws IOException {
    int count = 0;
    try (InputStream in = Files.newInputStream(file)) {
      byte[] buffer = new byte[BUFFER];
      for (int got = in.read(buffer); got >= 0; got = in.read(buffer)) {
        for (int i = 0; i < got; i++) {
          count += buffer[i] == '\n' ? 1 : 0;
        }
      }
    }
    return new Records(file, count);
  }

  /** Returns about {@code wanted} records, evenly spread over the file. */
  Iterable<KeyValue> sample(int wanted) {
    int step = Math.max(1, count / wanted);
    return () ->
        new Iterator<>() {
          private final Iterator<KeyValue> all = iterator();

          @Override
          public boolean hasNext() {
            return all.hasNext();
          }

          @Override
          public KeyValue next() {
            KeyValue chosen = all.next();
            for (int i = 1; i < step && all.hasNext(); i++) {
              all.next();
            }
            return chosen;
          }
        };
  }

  @Override
  public Iterator<KeyValue> iterator() {
    try {
      return new Lines(Files.newInputStream(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Lines implements Iterator<KeyValue> {
    private final InputStream in;
    private byte[] buffer = new byte[BUFFER];
    private int at;
    private int end;
    private @Nullable KeyValue ahead;

    Lines(InputStream in) {
      this.in = in;
      this.ahead = read();
    }

    @Override
    public boolean hasNext() {
      return ahead != null;
    }

    @Override
    public KeyValue next() {
      KeyValue result = ahead;
      if (result == null) {
        throw new NoSuchElementException();
      }
      ahead = read();
      return result;
    }

    private @Nullable KeyValue read() {
      try {
        int lineEnd = find((byte) '\n', at);
        if (lineEnd < 0) {
          in.close();
          return null;
        }
        int tab = at;
        while (buffer[tab] != '\t') {
          tab++;
        }
        KeyValue record =
            new KeyValue(
                Arrays.copyOfRange(buffer, at, tab), Arrays.copyOfRange(buffer, tab + 1, lineEnd));
        at = lineEnd + 1;
        return record;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Finds the next such byte, reading on if necessary; returns -1 at the end of the file. */
    private int find(byte wanted, int from) throws IOException {
      int i = from;
      while (true) {
        for (; i < end; i++) {
          if (buffer[i] == wanted) {
            return i;
          }
        }
        int kept = end - at;
        byte[] next = kept > buffer.length / 2 ? new byte[2 * buffer.length] : buffer;
        System.arraycopy(buffer, at, next, 0, kept);
        buffer = next;
        at = 0;
        i = kept;
        int got = in.read(buffer, kept, buffer.length - kept);
        if (got < 0) {
          if (kept > 0) {
            throw new EOFException("the last line has no line feed");
          }
          return -1;
        }
        end = kept + got;
      }
    }
  }
}
