package tech.bsdb.mirror;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteTraffic;

/** Counts the requests to an origin and the bytes that arrive. Thread-safe. */
public final class CountedRanges implements RangeOrigin {
  private final RangeOrigin origin;
  private final LongAdder requests;
  private final LongAdder bytes;

  /** Counts what is asked of an origin from now on. */
  public CountedRanges(RangeOrigin origin) {
    this(origin, new LongAdder(), new LongAdder());
  }

  private CountedRanges(RangeOrigin origin, LongAdder requests, LongAdder bytes) {
    this.origin = origin;
    this.requests = requests;
    this.bytes = bytes;
  }

  /** Shares the counts. */
  @Override
  public RangeOrigin afresh() {
    return new CountedRanges(origin.afresh(), requests, bytes);
  }

  /** What was asked for so far; which of it was asked again is not known here. */
  public RemoteTraffic traffic() {
    return new RemoteTraffic(requests.sum(), bytes.sum(), 0, 0);
  }

  @Override
  public CompletableFuture<byte[]> read(String file, long size, long from, int length) {
    requests.increment();
    CompletableFuture<byte[]> read = origin.read(file, size, from, length);
    var unused = read.thenAccept(got -> bytes.add(got.length));
    return read; // itself, so that to cancel it gives up the request
  }

  @Override
  public InputStream open(String file, long from) throws IOException {
    requests.increment();
    return counted(origin.open(file, from));
  }

  @Override
  public InputStream open(String file, long from, LongSupplier leftNanos) throws IOException {
    requests.increment();
    return counted(origin.open(file, from, leftNanos));
  }

  private InputStream counted(InputStream in) {
    return new FilterInputStream(in) {
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
