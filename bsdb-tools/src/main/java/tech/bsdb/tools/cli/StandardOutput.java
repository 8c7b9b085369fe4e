package tech.bsdb.tools.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;

/**
 * Buffered standard output. Every failure is an {@link OutputException}, which distinguishes a full
 * disk under the output from a full disk under a database. Not thread-safe.
 */
final class StandardOutput extends OutputStream {
  private final OutputStream sink;
  private final byte[] buffer = new byte[1 << 16];
  private final boolean pipe;
  private int size;

  /**
   * Wraps a stream.
   *
   * @param pipe whether it is known to be a pipe, which can fail only because its reader leaves
   */
  StandardOutput(OutputStream sink, boolean pipe) {
    this.sink = sink;
    this.pipe = pipe;
  }

  @Override
  public void write(int oneByte) throws OutputException {
    if (size == buffer.length) {
      drain();
    }
    buffer[size++] = (byte) oneByte;
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws OutputException {
    if (length > buffer.length - size) {
      drain();
      if (length >= buffer.length) {
        emit(bytes, from, length);
        return;
      }
    }
    System.arraycopy(bytes, from, buffer, size, length);
    size += length;
  }

  @Override
  public void flush() throws OutputException {
    drain();
    try {
      sink.flush();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Flushes; the underlying stream belongs to the process and stays open. */
  @Override
  public void close() throws OutputException {
    flush();
  }

  private void drain() throws OutputException {
    int pending = size;
    size = 0; // a later flush must not retry what fails now
    if (pending > 0) {
      emit(buffer, 0, pending);
    }
  }

  private void emit(byte[] bytes, int from, int length) throws OutputException {
    try {
      sink.write(bytes, from, length);
    } catch (IOException e) {
      throw failure(e);
    }
  }

  /** Also relies on {@link #pipe}, because the system's message for EPIPE may be localized. */
  private OutputException failure(IOException e) {
    String words = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
    return new OutputException(e, words.contains("broken pipe") || pipe);
  }
}
