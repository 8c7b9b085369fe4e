package tech.bsdb.tools.serve.client;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryBudget;

/**
 * Accounts for the memory held for clients: request bodies, values from just before they are read,
 * and answers until the client has read them. It is bounded in total and per client. Thread-safe.
 *
 * <p>A client is an IPv4 address, or the first 64 bits of an IPv6 address. An eighth of each bound
 * is reserved for small allocations, so that large values never block small ones. An allocation
 * that would be the only one is admitted whatever its size; otherwise a value larger than the bound
 * could never be answered.
 */
public final class HeldMemory {
  /** Allocations up to this size are small. */
  static final int SMALL = 64 << 10;

  /**
   * Allocations up to this size are not counted; with the maximum of lookups in flight they add up
   * to 4 MiB.
   */
  public static final int FREE = 1 << 10;

  /** One in this many bytes is reserved for small allocations. */
  private static final int KEPT = 8;

  private final Map<Object, Client> clients = new HashMap<>();
  private final Sums all;
  private final long perClient;
  private long peak;
  private long refusals;
  private long clientRefusals;

  /**
   * Creates an accounting with nothing held.
   *
   * @param most bound in bytes for all clients together
   * @param perClient bound in bytes for one client
   */
  public HeldMemory(long most, long perClient) {
    this.all = new Sums(most);
    this.perClient = perClient;
  }

  /** The bytes held, and their bound. */
  private static class Sums {
    final long limit;
    long small;
    long large;

    Sums(long limit) {
      this.limit = limit;
    }

    long held() {
      return small + large;
    }

    void add(long smallMore, long largeMore) {
      small += smallMore;
      large += largeMore;
    }

    /**
     * Whether the bytes held may grow by this much. A connection has one large answer at a time, so
     * its own bytes do not count when checking whether it is the only one.
     *
     * @param own what the requesting connection holds
     */
    boolean admits(long smallMore, long largeMore, Sums own) {
      boolean fits = small + large + smallMore + largeMore <= limit;
      if (largeMore > 0) {
        return (fits && large + largeMore <= limit - limit / KEPT) || large == own.large;
      }
      return fits || small + smallMore <= limit / KEPT || small == 0;
    }
  }

  /** A client and its connections. */
  private static final class Client extends Sums {
    private final Object address;
    private int connections;

    Client(Object address, long limit) {
      super(limit);
      this.address = address;
    }
  }

  /** The memory held for one connection. */
  public final class Connection {
    private final Sums own = new Sums(Long.MAX_VALUE);
    private final Client client;

    private Connection(Client client) {
      this.client = client;
    }

    /** Returns a new, empty share. */
    public Share share() {
      return new Share(this, false);
    }

    /**
     * Returns a share that takes over what others hold; many small answers in it still count as
     * small.
     */
    public Share gathering() {
      return new Share(this, true);
    }

    private Object lock() {
      return HeldMemory.this;
    }

    /** Whether not even a small allocation is admitted. */
    public boolean isCrowded() {
      synchronized (HeldMemory.this) {
        return !all.admits(1, 0, own) || !client.admits(1, 0, own);
      }
    }

    /**
     * Called when the connection has ended; what is still being read for it counts until it is
     * released.
     */
    public void end() {
      synchronized (HeldMemory.this) {
        client.connections--;
        forget(client);
      }
    }

    private boolean change(long from, boolean fromLarge, long to, boolean toLarge, boolean ask) {
      long smallMore = (toLarge ? 0 : to) - (fromLarge ? 0 : from);
      long largeMore = (toLarge ? to : 0) - (fromLarge ? from : 0);
      synchronized (HeldMemory.this) {
        if (ask && !client.admits(smallMore, largeMore, own)) {
          clientRefusals++;
          return false;
        }
        if (ask && !all.admits(smallMore, largeMore, own)) {
          refusals++;
          return false;
        }
        own.add(smallMore, largeMore);
        client.add(smallMore, largeMore);
        all.add(smallMore, largeMore);
        if (ask) {
          peak = Math.max(peak, all.held());
        }
        forget(client);
        return true;
      }
    }
  }

  /**
   * An amount of memory held for a connection. Used by one thread at a time; handing it to another
   * thread requires a happens-before edge.
   */
  public static final class Share implements MemoryBudget {
    private final Connection connection;
    private final boolean gathers;
    private long bytes;
    private boolean large;

    private Share(Connection connection, boolean gathers) {
      this.connection = connection;
      this.gathers = gathers;
    }

    /** Returns the bytes held; up to {@link #FREE} they are not counted. */
    public long bytes() {
      return bytes;
    }

    @Override
    public boolean reserve(long more) {
      long to = bytes + more;
      boolean toLarge = gathers ? large : to > SMALL;
      if (to > FREE && !connection.change(counted(bytes), large, to, toLarge, true)) {
        return false;
      }
      bytes = to;
      large = toLarge;
      return true;
    }

    /** Reserves what is missing to reach this many bytes. */
    public boolean reserveUpTo(long wanted) {
      return wanted <= bytes || reserve(wanted - bytes);
    }

    /** Sets the bytes held, whether they would be admitted or not. */
    public void settle(long now) {
      settle(now, gathers ? large && now > 0 : now > SMALL);
    }

    private void settle(long now, boolean nowLarge) {
      if (counted(now) != counted(bytes) || nowLarge != large) {
        connection.change(counted(bytes), large, counted(now), nowLarge, false);
      }
      bytes = now;
      large = nowLarge;
    }

    /** Takes over what another share holds. */
    public void takeOver(Share other) {
      long more = other.bytes;
      if (more > 0) {
        boolean moreLarge = other.large;
        synchronized (connection.lock()) {
          other.settle(0);
          settle(bytes + more, gathers ? large || moreLarge : bytes + more > SMALL);
        }
      }
    }

    private static long counted(long bytes) {
      return bytes <= FREE ? 0 : bytes;
    }
  }

  /** Registers a connection from an address; call {@link Connection#end} when it closes. */
  public synchronized Connection connection(@Nullable InetAddress address) {
    Client client =
        clients.computeIfAbsent(key(address), unknown -> new Client(unknown, perClient));
    client.connections++;
    return new Connection(client);
  }

  private static Object key(@Nullable InetAddress address) {
    if (address instanceof Inet6Address) {
      return ByteBuffer.wrap(address.getAddress()).getLong();
    }
    return address == null ? "" : address;
  }

  private void forget(Client client) {
    if (client.connections == 0 && client.held() == 0) {
      clients.remove(client.address);
    }
  }

  /** Returns the bytes held. */
  public synchronized long held() {
    return all.held();
  }

  /** Returns the bound in bytes. */
  public long limit() {
    return all.limit;
  }

  /** Returns how often memory was refused because of the total bound. */
  public synchronized long refusals() {
    return refusals;
  }

  /** Returns how often memory was refused because of the per-client bound. */
  public synchronized long clientRefusals() {
    return clientRefusals;
  }

  /** Returns the peak of bytes held after an admission, for tests. */
  public synchronized long peak() {
    return peak;
  }

  /** Returns the number of registered clients, for tests. */
  public synchronized int clients() {
    return clients.size();
  }
}
