package tech.bsdb.remote;

/**
 * The requests to the location of a database.
 *
 * @param requests the requests that were sent, repeated ones included
 * @param bytes the bytes that arrived and were used
 * @param retries the requests that were sent because an earlier one of the same read failed
 * @param hedges the requests that were sent because an earlier one of the same read took long
 */
public record RemoteTraffic(long requests, long bytes, long retries, long hedges) {
  /** Nothing. */
  public static final RemoteTraffic NONE = new RemoteTraffic(0, 0, 0, 0);

  /** The sum of both. */
  public RemoteTraffic plus(RemoteTraffic other) {
    return new RemoteTraffic(
        requests + other.requests,
        bytes + other.bytes,
        retries + other.retries,
        hedges + other.hedges);
  }
}
