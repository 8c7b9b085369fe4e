package tech.bsdb.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A new file, written from front to back through a large buffer. Every write except the last before
 * a {@link #flush} has the size of the {@link ChunkBuffer} and starts at a multiple of it. Not
 * thread-safe.
 */
public final class SequentialFile implements Closeable {
  /**
   * The most bytes that a file keeps when another takes the buffer. Larger contents are written
   * out, at the cost of a huge page, so that the memory of all files stays small.
   */
  private static final int MOST_KEPT = 1 << 18;

  private static final byte[] NOTHING = new byte[0];

  private final Path path;
  private final FileChannel channel;
  private final ChunkBuffer chunk;
  private final boolean owning;
  private byte[] kept = NOTHING;
  private long written;

  /** Creates the file, which must not exist, with its own buffer. */
  public SequentialFile(Path path) throws IOException {
    this(path, ChunkBuffer.small(), create(path), true);
  }

  /** Creates the file, which must not exist, with a buffer that the caller closes. */
  public SequentialFile(Path path, ChunkBuffer chunk) throws IOException {
    this(path, chunk, create(path), false);
  }

  /** Creates the writer on an open channel. */
  public SequentialFile(Path path, ChunkBuffer chunk, FileChannel channel) {
    this(path, chunk, channel, false);
  }

  private SequentialFile(Path path, ChunkBuffer chunk, FileChannel channel, boolean owning) {
    this.path = path;
    this.chunk = chunk;
    this.channel = channel;
    this.owning = owning;
  }

  private static FileChannel create(Path path) throws IOException {
    return FileChannel.open(
        path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** The number of bytes that the operating system has. */
  public long written() {
    return written;
  }

  /** The path of the file. */
  public Path path() {
    return path;
  }

  /** Appends bytes. */
  public void write(byte[] bytes, int offset, int length) throws IOException {
    ByteBuffer buffer = buffer();
    int from = offset;
    int left = length;
    while (left > 0) {
      if (!buffer.hasRemaining()) {
        buffer = emptied(buffer);
      }
      int part = Math.min(left, buffer.remaining());
      buffer.put(bytes, from, part);
      from += part;
      left -= part;
    }
  }

  /**
   * Returns the buffer with the bytes gathered so far, limited at the next multiple of its size.
   */
  private ByteBuffer buffer() throws IOException {
    ByteBuffer buffer = chunk.of(this);
    if (kept.length > 0) {
      byte[] back = kept;
      kept = NOTHING;
      buffer.put(back);
    }
    return limited(buffer);
  }

  private ByteBuffer limited(ByteBuffer buffer) {
    return buffer.limit((int) Math.min(buffer.capacity(), toNextMultiple()));
  }

  private long toNextMultiple() {
    return chunk.most() - (written & chunk.most() - 1);
  }

  /** Makes room in a full buffer. */
  private ByteBuffer emptied(ByteBuffer full) throws IOException {
    if (full.position() < toNextMultiple()) {
      return limited(chunk.grown());
    }
    drain(full);
    return limited(full);
  }

  private void drain(ByteBuffer buffer) throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      written += channel.write(buffer);
    }
    buffer.clear();
  }

  /** Vacates the buffer for another file. */
  void leave(ByteBuffer buffer) throws IOException {
    if (buffer.position() > MOST_KEPT) {
      drain(buffer);
    } else {
      kept = new byte[buffer.position()];
      buffer.get(0, kept);
    }
  }

  /** Writes buffered bytes to the operating system. */
  public void flush() throws IOException {
    drain(buffer());
  }

  /** Replaces the first bytes of the file. */
  public void rewriteStart(byte[] bytes) throws IOException {
    flush();
    ByteBuffer start = ByteBuffer.wrap(bytes);
    while (start.hasRemaining()) {
      channel.write(start, start.position());
    }
  }

  /** Reads bytes that have been flushed. */
  public void read(byte[] target, int offset, int length, long position) throws IOException {
    ByteBuffer into = ByteBuffer.wrap(target, offset, length);
    while (into.hasRemaining()) {
      if (channel.read(into, position + into.position() - offset) < 0) {
        throw new IOException(path + ": ends before byte " + (position + length));
      }
    }
  }

  /** Forces written bytes to the device. May run in a different thread from the writer's. */
  public void force() throws IOException {
    channel.force(true);
  }

  @Override
  public void close() throws IOException {
    chunk.forget(this);
    kept = NOTHING;
    if (owning) {
      chunk.close();
    }
    channel.close();
  }
}
