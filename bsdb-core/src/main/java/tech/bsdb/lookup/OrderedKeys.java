package tech.bsdb.lookup;

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

  /** Moves a cursor. */
  @FunctionalInterface
  private interface Seek {
    /** Returns whether the cursor is at a key. */
    boolean in(OrderCursor cursor) throws IOException;
  }

  /** The first key, or null if there is none. */
  public byte @Nullable [] first() throws IOException {
    return least(OrderCursor::seekFirst);
  }

  /** The last key, or null if there is none. */
  public byte @Nullable [] last() throws IOException {
    return greatest(OrderCursor::seekLast);
  }

  /** The greatest key that is not greater than the given one, or null if there is none. */
  public byte @Nullable [] floor(byte[] key) throws IOException {
    return greatest(cursor -> cursor.seekFloor(key));
  }

  /** The least key that is not less than the given one, or null if there is none. */
  public byte @Nullable [] ceiling(byte[] key) throws IOException {
    return least(cursor -> cursor.seekCeiling(key));
  }

  private byte @Nullable [] least(Seek seek) throws IOException {
    return best(seek, -1);
  }

  private byte @Nullable [] greatest(Seek seek) throws IOException {
    return best(seek, 1);
  }

  /** The greatest or least of the keys that a seek finds in each database. */
  private byte @Nullable [] best(Seek seek, int sign) throws IOException {
    byte @Nullable [][] best = new byte[1][];
    lookup.withOrder(
        session -> {
          for (OrderIndex order : orders) {
            OrderCursor cursor = new OrderCursor(order);
            if (seek.in(cursor)) {
              byte[] key = cursor.key();
              byte[] other = best[0];
              if (other == null || Arrays.compareUnsigned(key, other) * sign > 0) {
                best[0] = key;
              }
            }
          }
        });
    return best[0];
  }

  /**
   * The number of a key: of the lesser keys of its database, and all of those before that; -1 if it
   * is absent.
   *
   * @throws tech.bsdb.error.WrongShardException if it belongs to a shard that was not opened
   */
  public long number(byte[] key) throws IOException {
    int database = lookup.database(key);
    long[] number = {-1};
    lookup.withOrder(
        session -> {
          long rank = new OrderCursor(orders.get(database)).find(key);
          number[0] = rank < 0 ? rank : rank + records(database);
        });
    return number[0];
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
    byte[][] key = {{}};
    lookup.withOrder(
        session -> {
          if (cursor.seekRank(rank)) {
            key[0] = cursor.key();
          }
        });
    return key[0];
  }

  /** The number of keys of the first databases. */
  private long records(int databases) {
    long records = 0;
    for (int i = 0; i < databases; i++) {
      records += orders.get(i).records();
    }
    return records;
  }

  /** The number of keys in a range; reads two leaves at most of each database. */
  public long count(KeyRange span) throws IOException {
    if (span.isEmpty()) {
      return 0;
    }
    long[] count = {0};
    lookup.withOrder(
        session -> {
          for (OrderIndex order : orders) {
            OrderCursor cursor = new OrderCursor(order);
            byte[] from = span.from();
            byte[] to = span.to();
            long end = to == null ? order.records() : cursor.rank(to);
            count[0] += end - (from == null ? 0 : cursor.rank(from));
          }
        });
    return count[0];
  }
}
