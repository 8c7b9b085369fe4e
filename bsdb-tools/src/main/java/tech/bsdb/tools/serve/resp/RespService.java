package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.ChannelHandler;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Lease;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.Limits;
import tech.bsdb.tools.serve.client.LookupCounts;

/** Serves a database to Redis clients. Its connections share it. Thread-safe. */
public final class RespService {
  private final ReloadingDatabase database;
  private final Connections connections;
  private final Credentials credentials;
  private final LookupCounts counts;
  private final FailureReports failures;
  private final Executor workers;
  private final boolean async;
  private final RespStatistics statistics = new RespStatistics();
  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong connected = new AtomicLong();
  private volatile @Nullable ServedVersion version;
  private volatile int port;

  /**
   * Serves a database.
   *
   * @param connections those of all protocols
   * @param counts counts lookups of all protocols
   * @param workers runs what would block an event loop
   * @param async whether single lookups are asynchronous
   */
  public RespService(
      ReloadingDatabase database,
      Connections connections,
      Credentials credentials,
      LookupCounts counts,
      FailureReports failures,
      Executor workers,
      boolean async) {
    this.database = database;
    this.connections = connections;
    this.credentials = credentials;
    this.counts = counts;
    this.failures = failures;
    this.workers = workers;
    this.async = async;
  }

  /** Creates the handler of a new connection. */
  public ChannelHandler connection() {
    return new RespConnection(this);
  }

  /** Sets the port that clients see. */
  public void port(int listening) {
    port = listening;
  }

  /** Returns the counts of commands. */
  public RespStatistics statistics() {
    return statistics;
  }

  /** Returns the number of open connections. */
  public long connected() {
    return connected.get();
  }

  /** Returns the error for a connection beyond the limit, after which it is closed. */
  public static byte[] tooManyConnections() {
    return "-ERR max number of clients reached\r\n".getBytes(US_ASCII);
  }

  long opened() {
    statistics.connected();
    connected.incrementAndGet();
    return ids.incrementAndGet();
  }

  void closed() {
    connected.decrementAndGet();
  }

  Lease acquire() {
    return database.acquire();
  }

  long swaps() {
    return database.swaps();
  }

  /** Returns what is known of an open database. */
  ServedVersion version(Database of) {
    ServedVersion known = version;
    if (known == null || known.database() != of) {
      known = new ServedVersion(of);
      version = known;
    }
    return known;
  }

  Connections connections() {
    return connections;
  }

  Limits limits() {
    return connections.limits();
  }

  Credentials credentials() {
    return credentials;
  }

  LookupCounts counts() {
    return counts;
  }

  FailureReports failures() {
    return failures;
  }

  Executor workers() {
    return workers;
  }

  boolean async() {
    return async;
  }

  /** Returns what {@code CONFIG GET} tells. */
  Map<String, String> configuration() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("port", String.valueOf(port));
    all.put("maxclients", String.valueOf(limits().connections()));
    all.put("databases", "1");
    all.put("maxmemory", "0");
    all.put("maxmemory-policy", "noeviction");
    all.put("save", "");
    all.put("appendonly", "no");
    all.put("timeout", "0");
    all.put("tcp-keepalive", "300");
    all.put("replica-read-only", "yes");
    all.put("cluster-enabled", "no");
    all.put("notify-keyspace-events", "");
    return all;
  }
}
