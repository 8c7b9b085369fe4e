package tech.bsdb.tools.serve;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.MemoryBudget;

/**
 * The memory that is held for clients: request bodies, values from before they are read, and
 * answers until the client has taken them. It is bounded in all and for each client. Thread-safe.
 *
 * <p>A client is an address, or the first 64 bits of one in IPv6. An eighth of each bound is kept
 * for what is small, so that large values never keep small ones from being answered. What would be
 * alone is admitted whatever its size: else a value larger than the bound could never be answered.
 */
final class HeldMemory {
  /** What takes no more is small. */
  static final int SMALL = 64 << 10;

  /** What takes no more is not counted; as many lookups as may be in flight take 4 MiB so. */
  static final int FREE = 1 << 10;

  /** One in so many bytes is kept for what is small. */
  private static final int KEPT = 8;

  private final Map<Object, Client> clients = new HashMap<>();
  private final Sums all;
  private final long ofClient;
  private long peak;
  private long refusals;
  private long clientRefusals;

  /**
   * Nothing is held.
   *
   * @param most bytes in all
   * @param ofClient bytes of one client
   */
  HeldMemory(long most, long ofClient) {
    this.all = new Sums(most);
    this.ofClient = ofClient;
  }

  /** What is held, and how much that may be. */
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
     * Whether what is held now may grow so. A connection has one large answer at a time: what it
     * holds itself does not keep it from being the only one.
     *
     * @param own what the asking connection holds
     */
    boolean admits(long smallMore, long largeMore, Sums own) {
      boolean fits = small + large + smallMore + largeMore <= limit;
      if (largeMore > 0) {
        return (fits && large + largeMore <= limit - limit / KEPT) || large == own.large;
      }
      return fits || small + smallMore <= limit / KEPT || small == 0;
    }
  }

  /** A client with connections. */
  private static final class Client extends Sums {
    private final Object address;
    private int connections;

    Client(Object address, long limit) {
      super(limit);
      this.address = address;
    }
  }

  /** What is held for one connection. */
  final class Connection {
    private final Sums own = new Sums(Long.MAX_VALUE);
    private final Client client;

    private Connection(Client client) {
      this.client = client;
    }

    /** Something to be held, nothing as yet. */
    Share share() {
      return new Share(this, false);
    }

    /** Something that takes over what others hold; many small answers in it are small still. */
    Share gathering() {
      return new Share(this, true);
    }

    private Object lock() {
      return HeldMemory.this;
    }

    /** Whether not even what is small is admitted. */
    boolean isCrowded() {
      synchronized (HeldMemory.this) {
        return !all.admits(1, 0, own) || !client.admits(1, 0, own);
      }
    }

    /** The connection has ended; what is still being read for it counts until it is given back. */
    void end() {
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
   * Something that is held for a connection. Used by one thread at a time; whoever hands it on sees
   * to it that the other sees what happened before.
   */
  static final class Share implements MemoryBudget {
    private final Connection connection;
    private final boolean gathers;
    private long bytes;
    private boolean large;

    private Share(Connection connection, boolean gathers) {
      this.connection = connection;
      this.gathers = gathers;
    }

    /** Bytes that are held, {@link #FREE} or less of which are not counted. */
    long bytes() {
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

    /** Reserves what is missing of so many bytes. */
    boolean reserveUpTo(long wanted) {
      return wanted <= bytes || reserve(wanted - bytes);
    }

    /** Holds so many bytes from now on, whether they are admitted or not. */
    void settle(long now) {
      settle(now, gathers ? large && now > 0 : now > SMALL);
    }

    private void settle(long now, boolean nowLarge) {
      if (counted(now) != counted(bytes) || nowLarge != large) {
        connection.change(counted(bytes), large, counted(now), nowLarge, false);
      }
      bytes = now;
      large = nowLarge;
    }

    /** Takes over what another one holds. */
    void takeOver(Share other) {
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

  /** A connection from an address; {@link Connection#end} it. */
  synchronized Connection connection(@Nullable InetAddress address) {
    Client client = clients.computeIfAbsent(key(address), unknown -> new Client(unknown, ofClient));
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

  /** Bytes that are held. */
  synchronized long held() {
    return all.held();
  }

  /** Bytes that may be held. */
  long limit() {
    return all.limit;
  }

  /** How often something was refused because too much was held in all. */
  synchronized long refusals() {
    return refusals;
  }

  /** How often something was refused because too much was held for its client. */
  synchronized long clientRefusals() {
    return clientRefusals;
  }

  /** The most that was ever held once something was admitted, for tests. */
  synchronized long peak() {
    return peak;
  }

  /** Clients that are known, for tests. */
  synchronized int clients() {
    return clients.size();
  }
}
