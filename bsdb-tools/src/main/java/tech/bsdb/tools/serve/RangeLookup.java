package tech.bsdb.tools.serve;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.Statistics;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.batch.RequestRefusedException;
import tech.bsdb.tools.serve.cluster.SlotSet;

/**
 * A page of the records of a range, in the order of their keys, or the number of the range's keys.
 * The keys come from the order, their values from lookups, which reserve memory. In a cluster, only
 * the keys of the node's slots are in the page and the number.
 */
final class RangeLookup extends SlicedAnswer<AnswerLines> {
  /** The most keys that one slice looks at, whether they are the node's or not. */
  private static final int MOST_SEEN = 100_000;

  /** What a cursor holds of the order of a shard: a leaf, and some keys of it decoded. */
  private static final long LEAF_BYTES = 8 << 10;

  private static final long KEYS_OF_LEAF = 16;

  /** Keys that a cursor has read ahead. */
  private static final long KEYS_OF_CURSOR = 128;

  private final RangeRequest request;
  private final @Nullable Projection fields;
  private final RangeOptions keysInOrder;
  private final boolean withValues;
  private final long most;
  private @Nullable SlotSet own;
  private @Nullable RecordCursor cursor;
  private KeyRange rest;
  private long done;
  private int together;
  private boolean ended;

  /* About the slice that is not taken yet. */
  private byte @Nullable [] lastSeen;
  private int seen;
  private long written;
  private boolean atEnd;

  /**
   * What a request asks for.
   *
   * @param fields the fields to keep of values; null for all
   */
  RangeLookup(
      Lookups lookups,
      Exchange exchange,
      Conditions conditions,
      RangeRequest request,
      @Nullable Projection fields) {
    super(
        lookups,
        exchange,
        conditions,
        request.countsOnly() ? MediaType.JSON : MediaType.JSON_LINES);
    this.request = request;
    this.fields = fields;
    this.keysInOrder =
        RangeOptions.defaults().withValues(false).withDescending(request.descending());
    this.withValues = !request.keysOnly() && !request.countsOnly();
    this.most = request.countsOnly() ? Long.MAX_VALUE : request.limit();
    this.rest = request.range();
  }

  @Override
  int weight() {
    return withValues ? Math.min(request.limit(), KEYS) : 1;
  }

  @Override
  AnswerLines begin() throws RequestRefusedException {
    if (!database().isOrdered()) {
      throw new RequestRefusedException(
          "ranges need the order of the keys, which this data set does not have: build it with bsdb"
              + " build --ordered");
    }
    own = lookups.ownSlots();
    together = withValues ? together() : KEYS;
    ended = own != null && own.isEmpty();
    AnswerLines lines =
        request.countsOnly() ? new AnswerLines(false, null) : served().lines(fields);
    lines.writeKeysIn(request.encoding());
    return lines;
  }

  @Override
  void write(AnswerLines answers) throws IOException {
    lastSeen = null;
    seen = 0;
    written = 0;
    atEnd = ended;
    if (request.countsOnly() && own == null) {
      answers.writeCount(database().count(rest)); // takes two reads of each database
      atEnd = true;
      return;
    }
    long wanted = withValues ? Math.min(most - done, KEYS) : most - done;
    while (written < wanted && answers.out().length() < BYTES && readKeys(wanted - written)) {
      if (withValues) {
        lookUp(answers);
      } else if (!request.countsOnly()) {
        keys.forEach(answers::writeKey);
      }
      written += keys.size();
    }
    if (request.countsOnly() && atEnd) {
      answers.writeCount(done + written);
    }
  }

  /** Takes the next keys of the order; returns false if there are none. */
  private boolean readKeys(long wanted) throws IOException {
    keys.clear();
    for (long bytes = 0; keys.size() < Math.min(together, wanted) && bytes < BYTES; ) {
      byte[] key = nextKey();
      if (key == null) {
        break;
      }
      keys.add(key);
      bytes += key.length;
    }
    return !keys.isEmpty();
  }

  /** Returns the next key of this node; null at the end, or if too many others were seen. */
  private byte @Nullable [] nextKey() throws IOException {
    while (!atEnd && seen < MOST_SEEN) {
      RecordCursor records = cursor;
      if (records == null) {
        reserve(cursorBytes());
        records = database().range(rest, keysInOrder);
        cursor = records;
      }
      if (!records.next()) {
        atEnd = true;
        return null;
      }
      byte[] key = records.key();
      lastSeen = key;
      seen++;
      if (SlotSet.isAmong(own, key)) {
        return key;
      }
    }
    return null;
  }

  /** Returns about how much memory a cursor takes: a leaf of each shard, and a batch of keys. */
  private long cursorBytes() {
    Statistics statistics = served().version().statistics;
    long key = 1 + statistics.keyBytes() / Math.max(1, statistics.records());
    int shards = statistics.shards() == 1 ? 1 : statistics.heldShards().size();
    return shards * (LEAF_BYTES + KEYS_OF_LEAF * key) + KEYS_OF_CURSOR * key;
  }

  @Override
  void absent(byte[] key) throws IOException {
    throw new IOException(
        "the order of the keys has "
            + DuplicateKeyException.show(key)
            + ", for which there is no record");
  }

  @Override
  Reply failed() {
    return isLookingUp() ? Reply.FAILED : Reply.ORDER_FAILED;
  }

  @Override
  void taken() {
    done += written;
    ended = atEnd || done == most;
    if (lastSeen != null) {
      rest = RangeRequest.behind(rest, lastSeen, request.descending());
    }
  }

  @Override
  boolean isLast() {
    return ended;
  }

  @Override
  long kept() {
    return cursor == null ? 0 : cursorBytes();
  }

  @Override
  void dropMemory() {
    cursor = null; // another one begins at the rest of the range
    super.dropMemory();
  }
}
