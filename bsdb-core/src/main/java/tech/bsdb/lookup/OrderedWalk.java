package tech.bsdb.lookup;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.RecordAddress;
import tech.bsdb.order.OrderCursor;
import tech.bsdb.order.OrderIndex;

/**
 * Iterates over the records of a range in the order of their keys; of a set, over those of all
 * shards, merged. Reads them in batches, which grow, so that a short range reads little and a long
 * one overlaps reads. Not thread-safe.
 */
public final class OrderedWalk implements Walk {
  private static final int FIRST_BATCH = 16;
  private static final int MOST_IN_BATCH = 128;

  /** Records for each page, at least, that are worth reading one page after the other. */
  private static final int RECORDS_OF_PAGE = 8;

  /** Bytes of the values of a batch, at most, unless one is longer. */
  private static final long BATCH_BYTES = 16L << 20;

  private final Lookup lookup;
  private final KeySpan span;
  private final boolean descending;
  private final boolean withValues;
  private final int most;
  private final PriorityQueue<Head> heads;
  private final byte[][] keys;
  private final byte[] @Nullable [] values;

  /** The addresses of the records, if the layout has addresses. */
  private final long[] places;

  private final boolean placed;
  private final RecordAddress addresses;
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
    private final AddressBits bits;
    private final RecordAddress addresses;
    byte[] key = new byte[0];

    Head(OrderCursor cursor, Facts facts) {
      this.bits = requireNonNull(facts.order()).place();
      this.addresses = facts.addresses();
      this.cursor = cursor;
    }

    /** Turns the short forms of some addresses into these. */
    void toAddresses(long[] places, int from, int count) {
      for (int i = from; i < from + count; i++) {
        places[i] = bits.address(places[i], addresses);
      }
    }

    /** The address of the record of the key. */
    long address() {
      return bits.address(cursor.address(), addresses);
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
    this(lookup, span, descending, values, limit, 0, lookup.opened().databases().size());
  }

  /**
   * Starts a walk over all records of one of the databases of a lookup.
   *
   * @param database the number of the database, 0 for a single one
   * @param values whether to read values, too
   */
  public static OrderedWalk ofOne(Lookup lookup, int database, boolean values) {
    return new OrderedWalk(
        lookup, KeySpan.ALL, false, values, Long.MAX_VALUE, database, database + 1);
  }

  private OrderedWalk(
      Lookup lookup,
      KeySpan span,
      boolean descending,
      boolean values,
      long limit,
      int fromDatabase,
      int toDatabase) {
    this.lookup = lookup;
    this.span = span;
    this.descending = descending;
    this.left = limit;
    this.withValues = values;
    Comparator<Head> byKey = (one, other) -> Arrays.compareUnsigned(one.key, other.key);
    List<OrderIndex> orders = lookup.orders();
    this.heads =
        new PriorityQueue<>(toDatabase - fromDatabase, descending ? byKey.reversed() : byKey);
    long longest = 1;
    for (int i = fromDatabase; i < toDatabase; i++) {
      Facts facts = lookup.opened().databases().get(i).facts();
      heads.add(new Head(new OrderCursor(orders.get(i)), facts));
      longest = Math.max(longest, facts.longestValue());
    }
    this.addresses = lookup.opened().facts().addresses();
    this.placed = values && !lookup.opened().facts().packed();
    this.most =
        values ? (int) Math.max(1, Math.min(MOST_IN_BATCH, BATCH_BYTES / longest)) : MOST_IN_BATCH;
    int room = (int) Math.min(most, limit);
    this.places = new long[placed ? room : 0];
    this.keys = new byte[room][];
    this.values = new byte[values ? room : 0][];
  }

  /**
   * Advances to the next record.
   *
   * @throws IllegalStateException if the database is closed, or an earlier call failed
   */
  @Override
  public boolean next() throws IOException {
    if (closed) {
      throw new IllegalStateException("the scan is closed");
    }
    lookup.requireOpen();
    if (failed) {
      throw new IllegalStateException("the scan failed before, and cannot go on");
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
    failed = true;
    at = -1;
    lookup.withOrder(this::readKeys);
    readValues();
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
      if (heads.size() > 1) {
        take(head);
        heads.remove();
        if (advance(head)) {
          heads.add(head);
        }
      } else {
        boolean more = true;
        while (more && size < wanted) {
          take(head);
          if (!descending) {
            takeFollowing(head, wanted);
          }
          more = size < left && advance(head);
        }
        if (!more) {
          heads.clear();
        }
      }
    }
    left -= size;
    ended = heads.isEmpty() || left == 0;
  }

  private void take(Head head) {
    if (placed) {
      places[size] = head.address();
    }
    keys[size++] = head.key;
  }

  /** Takes the keys that follow in the same leaf. */
  private void takeFollowing(Head head, int wanted) throws IOException {
    long[] addresses = placed ? places : null;
    int taken = head.cursor.takeFollowing(span.to(), keys, addresses, size, wanted - size);
    if (placed) {
      head.toAddresses(places, size, taken);
    }
    size += taken;
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
  private boolean isInside(Head head) throws IOException {
    byte[] key = head.cursor.key();
    head.key = key;
    return descending ? span.startsBefore(key) : span.endsAfter(key);
  }

  /** Whether the records of the batch lie in few pages, as they do if they were added in order. */
  private boolean areTogether() {
    int pages = 1;
    for (int i = 1; i < size; i++) {
      if (addresses.page(places[i]) != addresses.page(places[i - 1])) {
        pages++;
      }
    }
    return pages * RECORDS_OF_PAGE <= size;
  }

  private void readValues() throws IOException {
    if (!withValues) {
      return;
    }
    lookup.getAll(keys, placed ? places : null, placed && areTogether(), size, values);
    for (int i = 0; i < size; i++) {
      if (values[i] == null) {
        throw lookup.withoutRecord(keys[i]);
      }
    }
  }

  @Override
  public byte[] key() {
    return keys[current()];
  }

  /** The address of the record, if the layout has addresses and values are read; otherwise 0. */
  public long address() {
    return placed ? places[current()] : 0;
  }

  @Override
  public byte[] value() {
    int number = current();
    byte[] value = withValues ? values[number] : null;
    if (value == null) {
      throw new IllegalStateException("this scan reads keys only");
    }
    return value;
  }

  @Override
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
