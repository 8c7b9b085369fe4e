package tech.bsdb.lookup;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/** Answers about the keys of a database in their order, from the order alone. Thread-safe. */
public final class OrderedKeys {
  private final Lookup lookup;
  private final List<OrderIndex> orders;

  /**
   * Creates an instance.
   *
   * @throws UnsupportedOperationException if the order of keys was not stored
   */
  public OrderedKeys(Lookup lookup) {
    this.lookup = lookup;
    this.orders = lookup.orders();
  }

  /** Moves a cursor; returns whether it is at a key. */
  @FunctionalInterface
  private interface Seek {
    boolean in(OrderCursor cursor) throws IOException;
  }

  /** The first key, or null if there is none. */
  public byte @Nullable [] first() throws IOException {
    return best(-1, OrderCursor::seekFirst);
  }

  /** The last key, or null if there is none. */
  public byte @Nullable [] last() throws IOException {
    return best(1, OrderCursor::seekLast);
  }

  /** The greatest key that is not greater than the given one, or null if there is none. */
  public byte @Nullable [] floor(byte[] key) throws IOException {
    return best(1, cursor -> cursor.seekFloor(key));
  }

  /** The least key that is not less than the given one, or null if there is none. */
  public byte @Nullable [] ceiling(byte[] key) throws IOException {
    return best(-1, cursor -> cursor.seekCeiling(key));
  }

  /** The greatest (1) or least (-1) of the keys that a seek finds in each database. */
  private byte @Nullable [] best(int sign, Seek seek) throws IOException {
    return lookup.sessions.use(
        session -> {
          byte[] best = null;
          for (OrderIndex order : orders) {
            OrderCursor cursor = new OrderCursor(order);
            if (seek.in(cursor)) {
              byte[] key = cursor.key();
              if (best == null || Arrays.compareUnsigned(key, best) * sign > 0) {
                best = key;
              }
            }
          }
          return best;
        });
  }

  /**
   * The number of a key: of the lesser keys of its database, and all of those before that; -1 if it
   * is absent.
   *
   * @throws tech.bsdb.error.WrongShardException if it belongs to a shard that was not opened
   */
  public long number(byte[] key) throws IOException {
    int database = lookup.database(key);
    long rank = inOrder(session -> new OrderCursor(orders.get(database)).find(key));
    return rank < 0 ? rank : rank + records(database);
  }

  /**
   * The key with a {@link #number}.
   *
   * @throws IllegalArgumentException if there is none
   */
  public byte[] key(long number) throws IOException {
    int all = orders.size();
    int database = 0;
    while (database < all && number >= records(database + 1)) {
      database++;
    }
    if (number < 0 || database == all) {
      throw new IllegalArgumentException(
          "number " + number + " is not one of the " + records(all) + " keys");
    }
    OrderCursor cursor = new OrderCursor(orders.get(database));
    long rank = number - records(database);
    return inOrder(session -> cursor.seekRank(rank) ? cursor.key() : new byte[0]);
  }

  /** The number of keys of the first databases. */
  private long records(int databases) {
    return orders.stream().limit(databases).mapToLong(OrderIndex::records).sum();
  }

  /** The number of keys in a range; reads two leaves at most of each database. */
  public long count(KeyRange span) throws IOException {
    if (span.isEmpty()) {
      return 0;
    }
    byte[] from = span.from();
    byte[] to = span.to();
    return inOrder(
        session -> {
          long count = 0;
          for (OrderIndex order : orders) {
            OrderCursor cursor = new OrderCursor(order);
            long end = to == null ? order.records() : cursor.rank(to);
            count += end - (from == null ? 0 : cursor.rank(from));
          }
          return count;
        });
  }

  private <T> T inOrder(Sessions.Use<T> use) throws IOException {
    return requireNonNull(lookup.sessions.use(use));
  }
}
