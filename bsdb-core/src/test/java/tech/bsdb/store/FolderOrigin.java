package tech.bsdb.store;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import tech.bsdb.transfer.Origin;

/** A directory on this machine as if it were distant, which counts and can fail. */
final class FolderOrigin implements Origin {
  /** What happens to a file that is opened. */
  @FunctionalInterface
  interface Fault {
    InputStream open(String file, long from, InputStream content) throws IOException;
  }

  final Path folder;
  final AtomicLong bytes = new AtomicLong();
  final ConcurrentHashMap<String, Integer> opens = new ConcurrentHashMap<>();
  volatile Fault fault = (file, from, content) -> content;

  FolderOrigin(Path folder) {
    this.folder = folder;
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    opens.merge(file, 1, Integer::sum);
    FileChannel channel = FileChannel.open(folder.resolve(file), StandardOpenOption.READ);
    channel.position(from);
    InputStream counted =
        new FilterInputStream(Channels.newInputStream(channel)) {
          @Override
          public int read(byte[] into, int offset, int length) throws IOException {
            int count = super.read(into, offset, length);
            bytes.addAndGet(Math.max(0, count));
            return count;
          }
        };
    try {
      return fault.open(file, from, counted);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public String location(String file) {
    return "far://host/" + file;
  }

  /** Content that ends, with or without an error, after some bytes. */
  static InputStream cut(InputStream content, long after, boolean loudly) {
    return new FilterInputStream(content) {
      private long left = after;

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        if (left == 0) {
          if (loudly) {
            throw new IOException("connection reset");
          }
          return -1;
        }
        int count = super.read(into, offset, (int) Math.min(length, left));
        left -= Math.max(0, count);
        return count;
      }
    };
  }

  /** Content with one byte changed. */
  static InputStream damaged(InputStream content, long at) {
    return new FilterInputStream(content) {
      private long position;

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        int count = super.read(into, offset, length);
        if (count > 0 && at >= position && at < position + count) {
          into[offset + (int) (at - position)] ^= 1;
        }
        position += Math.max(0, count);
        return count;
      }
    };
  }
}
