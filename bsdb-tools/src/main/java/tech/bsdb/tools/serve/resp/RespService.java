package tech.bsdb.tools.serve.resp;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.client.Connections;
import tech.bsdb.tools.serve.client.Connections.Limits;
import tech.bsdb.tools.serve.client.Credentials;
import tech.bsdb.tools.serve.client.FailureReports;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSets;

/** Serves data sets to Redis clients. Its connections share it. Thread-safe. */
public final class RespService {
  final DataSets sets;
  final Connections connections;
  final Limits limits;
  final Credentials credentials;
  final LookupCounts counts;
  final FailureReports failures;
  private final Executor workers;
  private final Executor distantWorkers;
  private final boolean async;

  /** The cluster of which this server is a node; null if it is alone. */
  final @Nullable Cluster cluster;

  private final ExecutorService counting;

  private final RespStatistics statistics = new RespStatistics();
  private final AtomicLong ids = new AtomicLong();

  /** The bytes of the keys that clients track, which all connections change. */
  final AtomicLong trackedBytes = new AtomicLong();

  private volatile int port;
  private volatile Supplier<Map<String, @Nullable Object>> figures = Map::of;

  /**
   * Serves data sets.
   *
   * @param connections those of all protocols
   * @param counts counts lookups of all protocols
   * @param workers runs what would block an event loop
   * @param distantWorkers runs what reads data sets elsewhere
   * @param async whether single lookups are asynchronous
   * @param cluster the cluster of which this server is a node, null for none
   * @param counting runs commands that count the keys of slots, one at a time; it is shut down to
   *     end them
   */
  public RespService(
      DataSets sets,
      Connections connections,
      Credentials credentials,
      LookupCounts counts,
      FailureReports failures,
      Executor workers,
      Executor distantWorkers,
      boolean async,
      @Nullable Cluster cluster,
      ExecutorService counting) {
    this.sets = sets;
    this.connections = connections;
    this.limits = connections.limits();
    this.credentials = credentials;
    this.counts = counts;
    this.failures = failures;
    this.workers = workers;
    this.distantWorkers = distantWorkers;
    this.async = async;
    this.cluster = cluster;
    this.counting = counting;
  }

  /** Creates the handler of a new connection. */
  public ChannelHandler connection(Channel accepted) {
    return new RespConnection(this, accepted);
  }

  /** Sets the port that clients see. */
  public void port(int listening) {
    port = listening;
  }

  /** Sets what tells the figures of the server, as {@code /stats} names them, for {@code INFO}. */
  public void figures(Supplier<Map<String, @Nullable Object>> ofServer) {
    figures = ofServer;
  }

  Map<String, @Nullable Object> figures() {
    return figures.get();
  }

  /** Returns the counts of commands. */
  public RespStatistics statistics() {
    return statistics;
  }

  /** Returns the number of connections accepted. */
  public long accepted() {
    return ids.get();
  }

  /** Returns the number of open connections. */
  public long connected() {
    return open().count();
  }

  /** Returns the error for a connection beyond the limit, after which it is closed. */
  public static byte[] tooManyConnections() {
    return "-ERR max number of clients reached\r\n".getBytes(US_ASCII);
  }

  private Stream<RespConnection> open() {
    return connections.of(RespConnection.class);
  }

  /** Returns a number that no other connection has. */
  long newId() {
    return ids.incrementAndGet();
  }

  /** Returns the sessions of all open connections, by their numbers. */
  List<Session> sessions() {
    return open()
        .map(RespConnection::session)
        .sorted(Comparator.comparingLong(session -> session.id))
        .toList();
  }

  /**
   * Tells all clients that track keys that what they know is not valid any more. Called when other
   * data is served than before.
   */
  public void invalidate() {
    open().forEach(RespConnection::invalidate);
  }

  /** Returns the data set with a name; null if there is none, or data sets have no names. */
  @Nullable DataSet named(String name) {
    return sets.areNamed() ? sets.named(name) : null;
  }

  /** Whether data sets have names. */
  boolean hasNames() {
    return sets.areNamed();
  }

  /** Returns what runs lookups in a data set that would block an event loop. */
  Executor workersOf(DataSet set) {
    return set.isDistant() ? distantWorkers : workers;
  }

  /** Whether single lookups in a data set are asynchronous. */
  boolean isAsync(DataSet set) {
    return async || set.isDistant();
  }

  /** Returns what runs a command that is not answered on the event loop. */
  Executor threadsOf(Handler.Deferred handler, DataSet set) {
    return cluster != null && handler instanceof Handler.Counting ? counting : workersOf(set);
  }

  /** Whether the server ends, which commands ask now and then while they read keys. */
  boolean isEnding() {
    return counting.isShutdown();
  }

  /** Returns the topology of the cluster in use; null if this server is alone. */
  @Nullable ClusterView clusterView() {
    return cluster == null ? null : cluster.view();
  }

  /** Returns a number higher than that of every data set. */
  private int databases() {
    List<DataSet> all = sets.all();
    return all.get(all.size() - 1).number() + 1;
  }

  /** Returns what {@code CONFIG GET} tells. */
  Map<String, String> configuration() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("port", String.valueOf(port));
    all.put("maxclients", String.valueOf(limits.connections()));
    all.put("databases", String.valueOf(databases()));
    all.put("maxmemory", "0");
    all.put("maxmemory-policy", "noeviction");
    all.put("save", "");
    all.put("appendonly", "no");
    all.put("timeout", "0");
    all.put("tcp-keepalive", "300");
    all.put("replica-read-only", "yes");
    all.put("cluster-enabled", cluster == null ? "no" : "yes");
    if (cluster != null) {
      all.put("cluster-require-full-coverage", "yes");
    }
    all.put("notify-keyspace-events", "");
    return all;
  }
}
