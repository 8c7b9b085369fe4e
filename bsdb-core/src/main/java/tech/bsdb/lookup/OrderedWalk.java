package tech.bsdb.lookup;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/**
 * Iterates over the records of a range in the order of their keys; of a set, over those of all
 * shards, merged. Reads them in batches, which grow, so that a short range reads little and a long
 * one overlaps reads. Not thread-safe.
 */
public final class OrderedWalk {
  private static final int FIRST_BATCH = 16;
  private static final int MOST_IN_BATCH = 128;

  /** Bytes of the values of a batch, at most, unless one is longer. */
  private static final long BATCH_BYTES = 16L << 20;

  private final Lookup lookup;
  private final KeySpan span;
  private final boolean descending;
  private final @Nullable KeyBatch batch;
  private final int most;
  private final PriorityQueue<Head> heads;
  private final byte[][] keys;
  private int size;
  private int at = -1;
  private boolean started;
  private boolean ended;

  /** How many records may follow those of the batch. */
  private long left;

  private boolean failed;
  private boolean closed;

  /** The next key of one of the databases. */
  private static final class Head {
    final OrderCursor cursor;
    byte[] key = new byte[0];

    Head(OrderCursor cursor) {
      this.cursor = cursor;
    }
  }

  /**
   * Starts a walk; reads nothing yet.
   *
   * @param values whether to read values, too; without them, no record is read
   * @param limit the most records to return
   * @throws UnsupportedOperationException if the order of keys was not stored
   */
  public OrderedWalk(Lookup lookup, KeySpan span, boolean descending, boolean values, long limit) {
    this.lookup = lookup;
    this.span = span;
    this.descending = descending;
    this.left = limit;
    this.batch = values ? lookup.batch() : null;
    Comparator<Head> byKey = (one, other) -> Arrays.compareUnsigned(one.key, other.key);
    List<OrderIndex> orders = lookup.orders();
    this.heads = new PriorityQueue<>(orders.size(), descending ? byKey.reversed() : byKey);
    for (OrderIndex order : orders) {
      heads.add(new Head(new OrderCursor(order)));
    }
    long longest = 1;
    for (var database : lookup.opened().databases()) {
      longest = Math.max(longest, database.facts().longestValue());
    }
    this.most =
        values ? (int) Math.max(1, Math.min(MOST_IN_BATCH, BATCH_BYTES / longest)) : MOST_IN_BATCH;
    this.keys = new byte[most][];
  }

  /**
   * Advances to the next record.
   *
   * @return false at the end
   * @throws CorruptDatabaseException if bytes are damaged
   * @throws IllegalStateException if the database is closed
   */
  public boolean next() throws IOException {
    if (closed) {
      throw new IllegalStateException("the scan is closed");
    }
    if (at + 1 >= size) {
      if (ended) {
        at = size;
        return false;
      }
      readOn();
      if (size == 0) {
        return false;
      }
    }
    at++;
    return true;
  }

  private void readOn() throws IOException {
    if (failed) {
      throw new IllegalStateException("the scan failed before, and cannot go on");
    }
    failed = true;
    lookup.withOrder(this::readKeys);
    readValues();
    at = -1;
    failed = false;
  }

  private void readKeys() throws IOException {
    int wanted = size == 0 ? Math.min(FIRST_BATCH, most) : Math.min(2 * size, most);
    if (left <= most) {
      wanted = (int) left;
    }
    size = 0;
    if (!started) {
      start();
      started = true;
    }
    while (size < wanted && !heads.isEmpty()) {
      Head head = heads.element();
      keys[size++] = head.key;
      if (heads.size() == 1) {
        if (!advance(head)) {
          heads.clear();
        }
      } else {
        heads.remove();
        if (advance(head)) {
          heads.add(head);
        }
      }
    }
    left -= size;
    ended = heads.isEmpty() || left == 0;
  }

  private void start() throws IOException {
    List<Head> all = List.copyOf(heads);
    heads.clear();
    if (span.isEmpty()) {
      return;
    }
    for (Head head : all) {
      boolean found = descending ? seekLast(head.cursor) : seekFirst(head.cursor);
      if (found && isInside(head)) {
        heads.add(head);
      }
    }
  }

  private boolean seekFirst(OrderCursor cursor) throws IOException {
    byte[] from = span.from();
    return from == null ? cursor.seekFirst() : cursor.seekCeiling(from);
  }

  private boolean seekLast(OrderCursor cursor) throws IOException {
    byte[] to = span.to();
    return to == null ? cursor.seekLast() : cursor.seekLower(to);
  }

  private boolean advance(Head head) throws IOException {
    return (descending ? head.cursor.previous() : head.cursor.next()) && isInside(head);
  }

  /** Whether the cursor's key is in the range; notes the key. */
  private boolean isInside(Head head) {
    byte[] key = head.cursor.key();
    head.key = key;
    return descending ? span.startsBefore(key) : span.endsAfter(key);
  }

  private void readValues() throws IOException {
    if (batch == null) {
      return;
    }
    batch.clear();
    for (int i = 0; i < size; i++) {
      batch.add(keys[i]);
    }
    batch.get();
    for (int i = 0; i < size; i++) {
      if (!batch.isPresent(i)) {
        throw new CorruptDatabaseException(
            lookup.opened().path(), 0, "a record for each key of the order", "a key without one");
      }
    }
  }

  /** The key of the record. */
  public byte[] key() {
    return keys[current()];
  }

  /** The value of the record. */
  public byte[] value() {
    int number = current();
    byte[] value = batch == null ? null : batch.value(number);
    if (value == null) {
      throw new IllegalStateException("this scan reads keys only");
    }
    return value;
  }

  /** Ends the walk. A second call does nothing. */
  public void close() {
    closed = true;
    size = 0;
  }

  private int current() {
    if (at < 0 || at >= size) {
      throw new IllegalStateException("the scan is not at a record");
    }
    return at;
  }
}
