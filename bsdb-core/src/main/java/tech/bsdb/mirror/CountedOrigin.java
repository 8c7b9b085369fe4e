package tech.bsdb.mirror;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.LongAdder;
import tech.bsdb.remote.RemoteTraffic;
import tech.bsdb.transfer.Origin;

/** Counts the files of an origin that are read as streams, and their bytes. Thread-safe. */
public final class CountedOrigin implements Origin {
  private final Origin origin;
  private final LongAdder requests = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  /** Counts what is asked of an origin from now on. */
  public CountedOrigin(Origin origin) {
    this.origin = origin;
  }

  /** The requests so far. */
  private long requests() {
    return requests.sum();
  }

  /** The bytes that arrived so far. */
  private long bytes() {
    return bytes.sum();
  }

  /** What was asked for so far. */
  public RemoteTraffic traffic() {
    return new RemoteTraffic(requests(), bytes(), 0, 0);
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    requests.increment();
    return new FilterInputStream(origin.open(file, from)) {
      @Override
      public int read() throws IOException {
        int one = super.read();
        bytes.add(one < 0 ? 0 : 1);
        return one;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        int count = super.read(into, offset, length);
        bytes.add(Math.max(0, count));
        return count;
      }
    };
  }

  @Override
  public String location(String file) {
    return origin.location(file);
  }

  @Override
  public String reason(IOException failure) {
    return origin.reason(failure);
  }
}
