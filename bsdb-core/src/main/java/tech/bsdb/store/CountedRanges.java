package tech.bsdb.store;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import tech.bsdb.mirror.CountedOrigin;
import tech.bsdb.remote.RangeOrigin;
import tech.bsdb.remote.RemoteOptions;
import tech.bsdb.remote.RemoteTraffic;

/** Counts the requests to an origin and the bytes that arrive. Thread-safe. */
final class CountedRanges implements RangeOrigin {
  private final RangeOrigin origin;
  private final CountedOrigin streams;
  private final LongAdder requests;
  private final LongAdder bytes;

  CountedRanges(RangeOrigin origin) {
    this(origin, new CountedOrigin(origin), new LongAdder(), new LongAdder());
  }

  private CountedRanges(
      RangeOrigin origin, CountedOrigin streams, LongAdder requests, LongAdder bytes) {
    this.origin = origin;
    this.streams = streams;
    this.requests = requests;
    this.bytes = bytes;
  }

  /** Shares the counts. */
  @Override
  public RangeOrigin afresh(RemoteOptions options) {
    return new CountedRanges(origin.afresh(options), streams, requests, bytes);
  }

  /** What was asked for so far; which of it was asked again is not known here. */
  RemoteTraffic traffic() {
    return new RemoteTraffic(requests.sum(), bytes.sum(), 0, 0).plus(streams.traffic());
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
    return streams.open(file, from);
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
