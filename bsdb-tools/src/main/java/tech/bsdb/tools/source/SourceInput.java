package tech.bsdb.tools.source;

import java.io.IOException;
import java.io.InputStream;
import org.apache.parquet.io.SeekableInputStream;

/**
 * The bytes of a file, read from any position. Its failures are explained to users, so that a
 * format's reader can take other exceptions for damage. Not buffered; for one thread.
 */
public final class SourceInput extends InputStream {
  private final String name;
  private final SeekableInputStream in;

  SourceInput(String name, SeekableInputStream in) {
    this.name = name;
    this.in = in;
  }

  /** Returns the position of the next byte. */
  public long position() throws IOException {
    return in.getPos();
  }

  /** Moves to a position. */
  public void seek(long position) throws IOException {
    try {
      in.seek(position);
    } catch (IOException e) {
      throw FileSources.explain(name, e);
    }
  }

  @Override
  public int read() throws IOException {
    try {
      return in.read();
    } catch (IOException e) {
      throw FileSources.explain(name, e);
    }
  }

  @Override
  public int read(byte[] to, int from, int length) throws IOException {
    try {
      return in.read(to, from, length);
    } catch (IOException e) {
      throw FileSources.explain(name, e);
    }
  }

  @Override
  public void close() throws IOException {
    in.close();
  }
}
