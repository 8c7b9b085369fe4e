package tech.bsdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** A file channel that notes what is written from front to back. */
public final class Recording extends FileChannel {
  /** One write. */
  public record Write(long position, int length) {}

  private final FileChannel channel;
  private final List<Write> writes = new ArrayList<>();
  private boolean failsToClose;
  private boolean failsToForce;
  private int forces;

  /** Notes what is written to a channel, which it closes. */
  public Recording(FileChannel channel) {
    this.channel = channel;
  }

  /** Makes closing fail, after it has closed the channel. */
  public void failToClose() {
    failsToClose = true;
  }

  /** Makes forcing fail. */
  public void failToForce() {
    failsToForce = true;
  }

  /** How often the file was forced to the device. */
  public int forces() {
    return forces;
  }

  /** A new file. */
  public static FileChannel create(Path path) throws IOException {
    return FileChannel.open(
        path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** What was written so far. */
  public List<Write> writes() {
    return writes;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    long position = channel.position();
    if (!source.isDirect()) {
      throw new AssertionError("copied once more, in parts perhaps");
    }
    int written = channel.write(source);
    writes.add(new Write(position, written));
    return written;
  }

  @Override
  public int write(ByteBuffer source, long position) throws IOException {
    return channel.write(source, position);
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    return channel.read(target);
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    return channel.read(target, position);
  }

  @Override
  public void force(boolean metaData) throws IOException {
    forces++;
    if (failsToForce) {
      throw new IOException("cannot be forced");
    }
    channel.force(metaData);
  }

  @Override
  protected void implCloseChannel() throws IOException {
    channel.close();
    if (failsToClose) {
      throw new IOException("cannot be closed");
    }
  }

  @Override
  public long position() throws IOException {
    return channel.position();
  }

  @Override
  public long size() throws IOException {
    return channel.size();
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileChannel position(long position) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileChannel truncate(long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long position, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) {
    throw new UnsupportedOperationException();
  }
}
