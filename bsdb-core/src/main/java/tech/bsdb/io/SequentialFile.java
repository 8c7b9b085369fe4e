package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A new file that is written from front to back through a large buffer. Not thread-safe. */
public final class SequentialFile implements Closeable {
  private static final int BUFFER = 1 << 18;

  private final Path path;
  private final FileChannel channel;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);

  /** Creates the file, which must not exist. */
  public SequentialFile(Path path) throws IOException {
    this.path = path;
    this.channel =
        FileChannel.open(
            path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** Its path. */
  public Path path() {
    return path;
  }

  /** Appends bytes. */
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      int part = Math.min(left, buffer.remaining());
      buffer.put(bytes, from, part);
      from += part;
      left -= part;
      if (!buffer.hasRemaining()) {
        flush();
      }
    }
  }

  /** Hands what is buffered to the operating system. */
  public void flush() throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
    buffer.clear();
  }

  /** Replaces the first bytes of the file. */
  public void rewriteStart(byte[] bytes) throws IOException {
    flush();
    ByteBuffer start = ByteBuffer.wrap(bytes);
    while (start.hasRemaining()) {
      channel.write(start, start.position());
    }
  }

  /** Reads bytes that were flushed before. */
  public void read(byte[] target, int offset, int length, long position) throws IOException {
    ByteBuffer into = ByteBuffer.wrap(target, offset, length);
    while (into.hasRemaining()) {
      if (channel.read(into, position + into.position() - offset) < 0) {
        throw new IOException(path + ": ends before byte " + (position + length));
      }
    }
  }

  /** Forces what was written to the device. May run in another thread than the writer's. */
  public void force() throws IOException {
    channel.force(true);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
