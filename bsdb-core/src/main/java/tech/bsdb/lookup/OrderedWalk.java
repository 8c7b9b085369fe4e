package tech.bsdb.lookup;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.data.PlacedRecords;
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
public final class OrderedWalk implements RecordCursor {
  private static final int FIRST_BATCH = 16;
  private static final int MOST_IN_BATCH = 128;

  /** Records of each database of a set, on average, that are worth reading one after the other. */
  private static final int FEW = 4;

  /** Bytes of the values of a batch, at most, unless one is longer. */
  private static final long BATCH_BYTES = 16L << 20;

  private final Lookup lookup;
  private final List<OrderIndex> orders;
  private final KeyRange span;
  private final boolean descending;
  private final boolean withValues;
  private final int most;
  private final int firstDatabase;
  private final int databases;

  /** Those of the databases that have further keys; the one with the next key is the first. */
  private final PriorityQueue<Head> heads;

  private final byte[][] keys;
  private final byte[] @Nullable [] values;

  /** The addresses of the records, if the layout has addresses. */
  private final long[] places;

  /** Of a set, the numbers of the databases of the records, if the layout has addresses. */
  private final int[] owners;

  private final boolean placed;
  private int size;
  private int at = -1;
  private boolean started;
  private boolean ended;

  /** One of the cursors, which is kept for another walk once this one ends. */
  private @Nullable OrderCursor used;

  /** How many records may follow those of the batch. */
  private long left;

  private boolean failed;
  private boolean closed;

  private static final Comparator<Head> ASCENDING =
      (one, other) -> Arrays.compareUnsigned(one.key, other.key);
  private static final Comparator<Head> DESCENDING =
      (one, other) -> Arrays.compareUnsigned(other.key, one.key);

  /** The next key of one of the databases, which are numbered from 0. */
  private static final class Head {
    final int database;
    final OrderCursor cursor;
    private final AddressBits bits;
    private final RecordAddress addresses;
    byte[] key = new byte[0];

    Head(int database, OrderCursor cursor, Facts facts) {
      this.database = database;
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
  public OrderedWalk(Lookup lookup, KeyRange span, boolean descending, boolean values, long limit) {
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
        lookup, KeyRange.all(), false, values, Long.MAX_VALUE, database, database + 1);
  }

  private OrderedWalk(
      Lookup lookup,
      KeyRange span,
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
    this.orders = lookup.orders();
    this.firstDatabase = fromDatabase;
    this.databases = toDatabase - fromDatabase;
    this.heads = new PriorityQueue<>(databases, descending ? DESCENDING : ASCENDING);
    long longest = 1;
    for (int i = 0; i < databases; i++) {
      longest = Math.max(longest, facts(i).longestValue());
    }
    this.placed = values && !lookup.opened().facts().packed();
    this.most =
        values ? (int) Math.max(1, Math.min(MOST_IN_BATCH, BATCH_BYTES / longest)) : MOST_IN_BATCH;
    int room = (int) Math.min(most, limit);
    this.places = new long[placed ? room : 0];
    this.owners = new int[placed && databases > 1 ? room : 0];
    this.keys = new byte[room][];
    this.values = new byte[values ? room : 0][];
  }

  private Facts facts(int number) {
    return lookup.opened().databases().get(firstDatabase + number).facts();
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
    lookup.withOrder(this::readBatch);
    failed = false;
  }

  private void readBatch(Session session) throws IOException {
    readKeys(session);
    if (withValues) {
      readValues(session);
    }
  }

  private void readKeys(Session session) throws IOException {
    int wanted = size == 0 ? Math.min(FIRST_BATCH, most) : Math.min(2 * size, most);
    if (left <= most) {
      wanted = (int) left;
    }
    size = 0;
    if (!started) {
      start(session);
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
    if (ended && used != null) {
      session.keep(used);
      used = null;
    }
  }

  private void take(Head head) {
    if (placed) {
      places[size] = head.address();
      if (owners.length > 0) {
        owners[size] = head.database;
      }
    }
    keys[size++] = head.key;
  }

  /** Takes the keys that follow in the same leaf. */
  private void takeFollowing(Head head, int wanted) throws IOException {
    long[] addresses = placed ? places : null;
    int taken = head.cursor.takeFollowing(span.to(), keys, addresses, size, wanted - size);
    if (placed) {
      head.toAddresses(places, size, taken);
      if (owners.length > 0) {
        Arrays.fill(owners, size, size + taken, head.database);
      }
    }
    size += taken;
  }

  private void start(Session session) throws IOException {
    if (span.isEmpty()) {
      return;
    }
    for (int i = 0; i < databases; i++) {
      OrderCursor cursor = session.cursor(orders.get(firstDatabase + i));
      used = cursor;
      Head head = new Head(i, cursor, facts(i));
      boolean found = descending ? seekLast(cursor) : seekFirst(cursor);
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

  private void readValues(Session session) throws IOException {
    if (!placed || !(databases == 1 ? areReadTogether(session) : arePartsReadTogether(session))) {
      lookup.getAll(keys, placed ? places : null, size, values, session);
    }
    for (int i = 0; i < size; i++) {
      if (values[i] == null) {
        throw lookup.withoutRecord(keys[i]);
      }
    }
  }

  private boolean areReadTogether(Session session) throws IOException {
    return lookup.readTogether(
        new PlacedRecords(keys, places, values, size), firstDatabase, session);
  }

  /** Reads the records of each database of a set by themselves, if they lie together there. */
  private boolean arePartsReadTogether(Session session) throws IOException {
    if (size < FEW * databases && lookup.overlaps()) {
      return false;
    }
    byte[][] keysOfOne = new byte[size][];
    long[] placesOfOne = new long[size];
    byte[] @Nullable [] valuesOfOne = new byte[size][];
    for (int database = 0; database < databases; database++) {
      int count = 0;
      for (int i = 0; i < size; i++) {
        if (owners[i] == database) {
          keysOfOne[count] = keys[i];
          placesOfOne[count++] = places[i];
        }
      }
      PlacedRecords records = new PlacedRecords(keysOfOne, placesOfOne, valuesOfOne, count);
      if (!lookup.readTogether(records, firstDatabase + database, session)) {
        return false;
      }
      for (int i = size - 1; i >= 0; i--) {
        if (owners[i] == database) {
          values[i] = valuesOfOne[--count];
        }
      }
    }
    return true;
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
