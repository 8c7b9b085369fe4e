package tech.bsdb.tools.serve;

import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.cluster.Cluster;
import tech.bsdb.tools.serve.cluster.Cluster.ElsewhereException;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.serve.cluster.Topology.ClusterNode;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException;
import tech.bsdb.tools.text.NoRoomException;

/** What lookups in a data set need: its current version, and limits and counts. Thread-safe. */
final class Lookups {
  /** Lookups of one connection may overlap where no value is longer than this. */
  private static final long MAX_OVERLAPPING = 64 << 10;

  private final DataSet set;
  private final Requests requests;
  private final ValueKind values;

  /** Runs what would block an event loop. */
  final Executor workers;

  /** Whether single lookups are asynchronous. */
  final boolean async;

  /** Tells which keys other nodes answer; null if this server is alone. */
  final @Nullable Cluster cluster;

  private final UnaryOperator<String> urls;

  private volatile @Nullable Served served;

  /**
   * Looks up keys in a data set.
   *
   * @param values how values are interpreted
   * @param urls returns the URL of the data set's keys at a node with this host and port
   */
  Lookups(
      DataSet set,
      Requests requests,
      Executor workers,
      boolean async,
      ValueKind values,
      @Nullable Cluster cluster,
      UnaryOperator<String> urls) {
    this.set = set;
    this.requests = requests;
    this.workers = workers;
    this.async = async;
    this.values = values;
    this.cluster = cluster;
    this.urls = urls;
  }

  /**
   * Whether lookups of one connection may overlap. Lookups of large values must not: each value
   * would be in memory before the client has read the previous one.
   */
  boolean overlap() {
    Served last = served;
    return async && (last == null || last.version().statistics.longestValue() <= MAX_OVERLAPPING);
  }

  boolean json() {
    return values != ValueKind.BYTES;
  }

  LookupCounts counts() {
    return set.counts();
  }

  Lease acquire() {
    return set.acquire();
  }

  /** Returns what is known of a leased version. */
  Served served(Lease lease) {
    Served last = served;
    if (last == null || last.version().database != lease.database()) {
      last = Served.of(set.version(lease), values);
      served = last;
    }
    return last;
  }

  /**
   * Requires that this server answers a key.
   *
   * @throws ElsewhereException if another node does
   */
  void requireHere(byte[] key) throws ElsewhereException {
    if (cluster != null) {
      cluster.requireHere(key, 0, key.length);
    }
  }

  /** Returns the slots whose keys are this node's in a cluster; null if all keys are. */
  @Nullable SlotSet ownSlots() {
    return cluster == null ? null : cluster.view().slots();
  }

  /** Returns the answer for a key that another node answers. */
  Reply misdirected(ElsewhereException e) {
    ClusterNode owner = e.owner();
    boolean http = owner.httpPort() != ClusterNode.NO_PORT;
    return Reply.misdirected(e, http ? urls.apply(owner.httpAuthority()) : "");
  }

  /**
   * Returns the answer to a request that failed, and counts and reports the failure if it is the
   * server's. The exchange then holds no memory.
   *
   * @param by the version that answers; null if it is not known
   * @param asked how many lookups failed
   * @param ours the answer if the failure is the server's
   */
  Reply failed(Exchange exchange, Throwable failure, @Nullable Served by, int asked, Reply ours) {
    exchange.memory.settle(0);
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    Reply reply;
    if (cause instanceof MemoryBudgetExceededException || cause instanceof NoRoomException) {
      return Reply.FULL;
    } else if (cause instanceof DataSetRemovedException e) {
      return Reply.removed(e);
    } else if (cause instanceof ElsewhereException e) {
      return misdirected(e);
    } else if (cause instanceof WrongShardException e) {
      ElsewhereException moved = cluster == null ? null : cluster.elsewhere(e.slot());
      reply = moved == null ? Reply.misdirected(e) : misdirected(moved);
    } else if (cause instanceof RequestRefusedException e) {
      reply = Reply.of(e);
    } else {
      counts().error(asked);
      set.failed(cause);
      requests.failed(exchange, cause);
      reply = ours;
    }
    return by == null ? reply : reply.with(by.header());
  }
}
