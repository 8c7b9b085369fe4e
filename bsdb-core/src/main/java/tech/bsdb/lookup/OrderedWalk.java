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

  /** The databases: from the first to before the second number. */
  private final int fromDatabase;

  private final int toDatabase;

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

  /** Why the walk cannot go on, or null if it can. */
  private @Nullable String unusable;

  /** One of the cursors, which is kept for another walk once this one ends. */
  private @Nullable OrderCursor used;

  /** How many records may follow those of the batch. */
  private long left;

  private static final Comparator<Head> ASCENDING =
      (one, other) -> Arrays.compareUnsigned(one.key, other.key);
  private static final Comparator<Head> DESCENDING =
      (one, other) -> Arrays.compareUnsigned(other.key, one.key);

  /** The next key of one of the databases. */
  private static final class Head {
    final int database;
    final OrderCursor cursor;
    private final AddressBits bits;
    private final RecordAddress addresses;
    byte[] key = {};

    Head(int database, OrderCursor cursor, Facts facts) {
      this.database = database;
      this.bits = requireNonNull(facts.order()).place();
      this.addresses = facts.addresses();
      this.cursor = cursor;
    }

    /** The address with a short form. */
    long address(long shortForm) {
      return bits.address(shortForm, addresses);
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
    this.fromDatabase = fromDatabase;
    this.toDatabase = toDatabase;
    int databases = toDatabase - fromDatabase;
    this.heads = new PriorityQueue<>(databases, descending ? DESCENDING : ASCENDING);
    long longest = 1;
    for (int i = fromDatabase; i < toDatabase; i++) {
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

  private Facts facts(int database) {
    return lookup.opened().databases().get(database).facts();
  }

  /**
   * Advances to the next record.
   *
   * @throws IllegalStateException if the database is closed, or an earlier call failed
   */
  @Override
  public boolean next() throws IOException {
    if (unusable != null) {
      throw new IllegalStateException(unusable);
    }
    lookup.sessions.requireOpen();
    if (at + 1 >= size) {
      if (ended) {
        at = size;
        return false;
      }
      at = -1;
      unusable = "the scan failed before, and cannot go on";
      lookup.sessions.use(this::readBatch);
      unusable = null;
      if (size == 0) {
        return false;
      }
    }
    at++;
    return true;
  }

  private @Nullable Void readBatch(Session session) throws IOException {
    readKeys(session);
    if (withValues) {
      readValues(session);
    }
    return null;
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
      Head head = heads.remove();
      boolean more;
      do {
        take(head, wanted);
        more = size < left && advance(head);
      } while (more && size < wanted && heads.isEmpty());
      if (more) {
        heads.add(head);
      }
    }
    left -= size;
    ended = heads.isEmpty() || left == 0;
    if (ended && used != null) {
      session.keep(used);
      used = null;
    }
  }

  /** Takes the next key of a database, and those that follow in its leaf if all others ended. */
  private void take(Head head, int wanted) throws IOException {
    int from = size;
    keys[size] = head.key;
    if (placed) {
      places[size] = head.cursor.address();
    }
    size++;
    if (!descending && heads.isEmpty()) {
      long[] addresses = placed ? places : null;
      size += head.cursor.takeFollowing(span.to(), keys, addresses, size, wanted - size);
    }
    if (placed) {
      for (int i = from; i < size; i++) {
        places[i] = head.address(places[i]);
      }
    }
    if (owners.length > 0) {
      Arrays.fill(owners, from, size, head.database);
    }
  }

  private void start(Session session) throws IOException {
    if (span.isEmpty()) {
      return;
    }
    byte[] from = span.from();
    byte[] to = span.to();
    for (int i = fromDatabase; i < toDatabase; i++) {
      OrderCursor cursor = session.cursor(orders.get(i));
      used = cursor;
      boolean found;
      if (descending) {
        found = to == null ? cursor.seekLast() : cursor.seekLower(to);
      } else {
        found = from == null ? cursor.seekFirst() : cursor.seekCeiling(from);
      }
      Head head = new Head(i, cursor, facts(i));
      if (found && isInside(head)) {
        heads.add(head);
      }
    }
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
    if (!placed || !areReadTogether(session)) {
      lookup.getAll(new KeyBatch(keys, placed ? places : null, size, values), session);
    }
    for (int i = 0; i < size; i++) {
      if (values[i] == null) {
        throw lookup.withoutRecord(keys[i]);
      }
    }
  }

  /** Reads the records of each database by themselves, if they lie together there. */
  private boolean areReadTogether(Session session) throws IOException {
    if (owners.length == 0) {
      PlacedRecords records = new PlacedRecords(keys, places, values, size);
      return lookup.readTogether(records, fromDatabase, session);
    }
    if (size < FEW * (toDatabase - fromDatabase) && lookup.overlaps()) {
      return false;
    }
    byte[][] keysOfOne = new byte[size][];
    long[] placesOfOne = new long[size];
    byte[] @Nullable [] valuesOfOne = new byte[size][];
    for (int database = fromDatabase; database < toDatabase; database++) {
      int count = 0;
      for (int i = 0; i < size; i++) {
        if (owners[i] == database) {
          keysOfOne[count] = keys[i];
          placesOfOne[count++] = places[i];
        }
      }
      PlacedRecords records = new PlacedRecords(keysOfOne, placesOfOne, valuesOfOne, count);
      if (!lookup.readTogether(records, database, session)) {
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
    unusable = "the scan is closed";
    size = 0;
  }

  private int current() {
    if (at < 0 || at >= size) {
      throw new IllegalStateException("the scan is not at a record");
    }
    return at;
  }
}
