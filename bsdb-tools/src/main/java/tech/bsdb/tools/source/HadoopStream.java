package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.fs.FSDataInputStream;
import org.jspecify.annotations.Nullable;

/**
 * A stream of Hadoop that any thread may close at any time. Hadoop's own streams make a close wait
 * for the read that another thread is in, which may take minutes. Here the thread in the read is
 * interrupted, and closes the stream once the read returns.
 */
final class HadoopStream extends InputStream {
  private final FSDataInputStream in;
  private @Nullable Thread reader;
  private boolean closed;

  HadoopStream(FSDataInputStream in) {
    this.in = in;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    enter();
    try {
      return in.read(bytes, offset, length);
    } finally {
      leave();
    }
  }

  private synchronized void enter() throws IOException {
    if (closed) {
      throw new IOException("the stream is closed");
    }
    reader = Thread.currentThread();
  }

  private void leave() throws IOException {
    synchronized (this) {
      reader = null;
      if (!closed) {
        return;
      }
    }
    boolean unused = Thread.interrupted(); // it was meant for the read
    in.close();
  }

  @Override
  public void close() throws IOException {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      if (reader != null) {
        reader.interrupt();
        return;
      }
    }
    in.close();
  }
}
