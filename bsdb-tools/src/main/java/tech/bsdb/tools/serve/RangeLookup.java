package tech.bsdb.tools.serve;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.LookupBatch;
import tech.bsdb.RangeOptions;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.tools.serve.batch.AnswerLines;
import tech.bsdb.tools.serve.batch.Projection;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.SlotSet;
import tech.bsdb.tools.text.NoRoomException;

/**
 * A page of the records of a range, in the order of their keys. The keys come from the order, their
 * values from lookups, which reserve memory. In a cluster, the page has the keys of the node's
 * slots.
 */
final class RangeLookup implements Slices {
  /** The most keys that one slice looks at, whether they are the node's or not. */
  private static final int MOST_SEEN = 100_000;

  private final Lookups lookups;
  private final RangeRequest request;
  private final @Nullable Projection fields;
  private final RangeOptions keysInOrder;
  private final List<byte[]> keys = new ArrayList<>();
  private @Nullable Database database;
  private @Nullable SliceBuffers<AnswerLines> buffers;
  private @Nullable SlotSet own;
  private HeldMemory.@Nullable Share working;
  private @Nullable RecordCursor cursor;
  private long cursorBytes;
  private KeyRange rest;
  private int left;
  private int together;
  private boolean ended;

  /* About the slice that is not taken yet. */
  private byte @Nullable [] lastSeen;
  private int seen;
  private int written;
  private int asking;
  private boolean readingOrder;
  private boolean atEnd;

  /**
   * A page.
   *
   * @param fields the fields to keep of values; null for all
   */
  RangeLookup(Lookups lookups, RangeRequest request, @Nullable Projection fields) {
    this.lookups = lookups;
    this.request = request;
    this.fields = fields;
    this.keysInOrder =
        RangeOptions.defaults().withValues(false).withDescending(request.descending());
    this.rest = request.range();
    this.left = request.limit();
  }

  @Override
  public MediaType type() {
    return MediaType.JSON_LINES;
  }

  @Override
  public int weight() {
    return request.keysOnly() ? 1 : Math.min(request.limit(), KEYS);
  }

  @Override
  public boolean begin(Database from, Identity by, HeldMemory.Share memory)
      throws RequestRefusedException {
    if (!from.isOrdered()) {
      throw new RequestRefusedException(RangeRequest.NO_ORDER);
    }
    buffers = new SliceBuffers<>(from, memory, this::lines);
    working = memory;
    database = from;
    cursorBytes = lookups.cursorBytes(from);
    own = lookups.placement().ownSlots();
    together = SliceBuffers.together(lookups.longestValue(from));
    ended = own != null && own.isEmpty();
    return false; // the order may be on a device even if all else is in memory
  }

  private AnswerLines lines(Database of) throws RequestRefusedException {
    AnswerLines lines = lookups.lines(of, fields);
    lines.writeKeysIn(request.encoding());
    return lines;
  }

  @Override
  public void write() throws IOException {
    lastSeen = null;
    seen = 0;
    written = 0;
    asking = 1;
    atEnd = ended;
    keys.clear();
    try {
      AnswerLines answers = Slices.begun(buffers).writer();
      answers.reset();
      if (request.keysOnly()) {
        writeKeys(answers);
      } else {
        writeRecords(answers);
      }
    } catch (MemoryBudgetExceededException | NoRoomException e) {
      throw e;
    } catch (IOException | RuntimeException | Error e) {
      lookups.counts().error(asking);
      throw e;
    }
  }

  private void writeKeys(AnswerLines answers) throws IOException {
    while (written < left && answers.length() < BYTES) {
      byte[] key = nextKey();
      if (key == null) {
        return;
      }
      answers.writeKey(key);
      written++;
    }
  }

  private void writeRecords(AnswerLines answers) throws IOException {
    int most = Math.min(left, KEYS);
    while (written < most && answers.length() < BYTES) {
      keys.clear();
      int wanted = Math.min(together, most - written);
      for (long bytes = 0; keys.size() < wanted && bytes < BYTES; ) {
        byte[] key = nextKey();
        if (key == null) {
          break;
        }
        keys.add(key);
        bytes += key.length;
      }
      if (keys.isEmpty()) {
        return;
      }
      lookUp(answers);
      written += keys.size();
    }
  }

  /** Returns the next key of this node; null at the end, or if too many others were seen. */
  private byte @Nullable [] nextKey() throws IOException {
    readingOrder = true;
    while (!atEnd && seen < MOST_SEEN) {
      RecordCursor records = cursor;
      if (records == null) {
        if (!Slices.begun(working).reserve(cursorBytes)) {
          throw new MemoryBudgetExceededException(cursorBytes);
        }
        records = Slices.begun(database).range(rest, keysInOrder);
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

  private void lookUp(AnswerLines answers) throws IOException {
    LookupBatch asked = Slices.begun(buffers).batch();
    asked.clear();
    keys.forEach(asked::add);
    asking = keys.size();
    readingOrder = false;
    asked.get();
    asking = 1;
    for (int i = 0; i < keys.size(); i++) {
      byte[] key = keys.get(i);
      if (!asked.isPresent(i)) {
        throw new IOException(
            "the order of the keys has "
                + DuplicateKeyException.show(key)
                + ", for which there is no record");
      }
      answers.write(key, 0, key.length, asked.values(), asked.offset(i), asked.length(i));
    }
  }

  @Override
  public Reply failed() {
    return readingOrder ? Reply.ORDER_FAILED : Reply.FAILED;
  }

  @Override
  public void taken() {
    lookups.counts().found(request.keysOnly() ? 0 : written, 0);
    left -= written;
    ended = atEnd || left == 0;
    if (lastSeen != null) {
      rest = RangeRequest.behind(rest, lastSeen, request.descending());
    }
    keys.clear();
    Slices.begun(buffers).countKept(cursor == null ? 0 : cursorBytes);
  }

  @Override
  public boolean isLast() {
    return ended;
  }

  @Override
  public byte[] buffer() {
    return Slices.begun(buffers).written();
  }

  @Override
  public int length() {
    return Slices.begun(buffers).length();
  }

  @Override
  public void dropMemory() {
    cursor = null; // another one begins at the rest of the range
    keys.clear();
    Slices.begun(buffers).drop();
  }
}
