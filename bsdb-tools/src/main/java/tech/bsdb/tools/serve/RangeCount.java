package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.tools.serve.client.HeldMemory;
import tech.bsdb.tools.serve.cluster.SlotSet;

/**
 * The number of keys in a range. It takes two reads of each database, except in a cluster, where
 * the keys of the node's slots are counted one by one.
 */
final class RangeCount implements Slices {
  /** The most keys that are looked at before others have a turn. */
  private static final int MOST_SEEN = 100_000;

  private final Lookups lookups;
  private final KeyRange range;
  private @Nullable Database database;
  private @Nullable SlotSet own;
  private HeldMemory.@Nullable Share working;
  private @Nullable RecordCursor cursor;
  private long count;
  private byte[] answer = {};

  /** Counts the keys of a range. */
  RangeCount(Lookups lookups, KeyRange range) {
    this.lookups = lookups;
    this.range = range;
  }

  @Override
  public MediaType type() {
    return MediaType.JSON;
  }

  @Override
  public int weight() {
    return 1;
  }

  @Override
  public boolean begin(Database from, Identity by, HeldMemory.Share memory)
      throws RequestRefusedException {
    if (!from.isOrdered()) {
      throw new RequestRefusedException(RangeRequest.NO_ORDER);
    }
    working = memory;
    database = from;
    own = lookups.placement().ownSlots();
    return false;
  }

  @Override
  public void write() throws IOException {
    try {
      if (own == null) {
        count = Slices.begun(database).count(range);
      } else if (!own.isEmpty() && !countOwn(own)) {
        return;
      }
    } catch (MemoryBudgetExceededException full) {
      throw full;
    } catch (IOException | RuntimeException | Error e) {
      lookups.counts().error(1);
      throw e;
    }
    answer = ("{\"count\":" + count + "}").getBytes(US_ASCII);
  }

  /** Counts on; returns whether that was all. */
  private boolean countOwn(SlotSet slots) throws IOException {
    RecordCursor records = cursor;
    if (records == null) {
      long bytes = lookups.cursorBytes(Slices.begun(database));
      if (!Slices.begun(working).reserve(bytes)) {
        throw new MemoryBudgetExceededException(bytes);
      }
      records = Slices.begun(database).range(range, RangeOptions.defaults().withValues(false));
      cursor = records;
    }
    for (int seen = 0; seen < MOST_SEEN; seen++) {
      if (!records.next()) {
        return true;
      }
      if (SlotSet.isAmong(slots, records.key())) {
        count++;
      }
    }
    return false;
  }

  @Override
  public Reply failed() {
    return Reply.ORDER_FAILED;
  }

  @Override
  public void taken() {}

  @Override
  public boolean isLast() {
    return answer.length > 0;
  }

  @Override
  public byte[] buffer() {
    return answer;
  }

  @Override
  public int length() {
    return answer.length;
  }

  @Override
  public void dropMemory() {
    cursor = null; // the answer is complete or refused
    Slices.begun(working).settle(0);
  }
}
