package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tech.bsdb.LookupBatch;
import tech.bsdb.MemoryBudget;
import tech.bsdb.error.MemoryBudgetExceededException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.rows.RowFields;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.ServedVersion;
import tech.bsdb.tools.text.NoRoomException;

/**
 * The commands that have arrived together, as steps of one key each: their keys are looked up
 * together, a slice at a time, all in one version. Replies are in the order of the commands, and
 * each is whole: a command that fails half way is answered by an error alone, unless its reply has
 * begun to leave. Confined to one thread at a time.
 */
final class LookupRound {
  /** The number of keys that are looked up together. */
  static final int SLICE = 256;

  /** Bytes of values that are looked up together. */
  private static final long SLICE_BYTES = 1 << 20;

  /** A round with more steps than this gives up its arrays at its end. */
  private static final int KEPT = 1024;

  /** Replies to a slice are longer than this only where they expand their values. */
  private static final int EXPANDED = 2 << 20;

  /** Values longer than this are not copied into the reply. */
  private static final int ALONE = 64 << 10;

  private static final int LONGEST_KEY = 65_535;

  private final RespService service;
  private final TrackedKeys tracked;
  private final Found found = new Found();
  private byte[] @Nullable [] keys = new byte[64] @Nullable [];
  private KeyStep[] steps = new KeyStep[64];

  /** Which steps are the first of a command. */
  private boolean[] begins = new boolean[64];

  private int size;
  private int lookups;
  private boolean begun;
  private int next;
  private int hits;
  private int misses;
  private @Nullable Lease lease;
  private @Nullable DataSet answering;
  private @Nullable ServedVersion version;

  /** Counts lookups in the data set. */
  private LookupCounts counts;

  private int replyStart;
  private int replyTaken;
  private boolean skipping;
  private boolean torn;

  /** What becomes of one key of a command, or of a command without keys, in a round of lookups. */
  @FunctionalInterface
  interface KeyStep {
    /**
     * Answers, or adds to what a later step answers.
     *
     * @param found what was found for the step's key, if it has one
     * @throws CommandException if the whole command is answered by an error
     */
    void answer(Found found, ReplyWriter out) throws CommandException;
  }

  LookupRound(RespService service, TrackedKeys tracked) {
    this.service = service;
    this.counts = service.counts;
    this.tracked = tracked;
  }

  /**
   * Requires that a command may have this many keys or fields.
   *
   * @param what which of them
   * @throws CommandException if they are more than the limit
   */
  void require(int count, String what) throws CommandException {
    int most = service.limits.batchKeys();
    if (count > most) {
      throw new CommandException(
          "ERR "
              + count
              + " "
              + what
              + " are more than "
              + most
              + ", the limit set by --max-batch");
    }
  }

  /** Begins a command, whose steps follow. */
  void begin() {
    begun = true;
  }

  /** Adds a command with one key alone. */
  void addAlone(byte[] key, KeyStep step) {
    begin();
    add(key, step);
  }

  /** Adds a step with a key. */
  void add(byte[] key, KeyStep step) {
    lookups++;
    put(key, step);
  }

  /** Adds a step without a key. */
  void add(KeyStep step) {
    put(null, step);
  }

  private void put(byte @Nullable [] key, KeyStep step) {
    if (size == steps.length) {
      int more = 2 * size;
      keys = Arrays.copyOf(keys, more);
      steps = Arrays.copyOf(steps, more);
      begins = Arrays.copyOf(begins, more);
    }
    keys[size] = key;
    steps[size] = step;
    begins[size] = begun;
    begun = false;
    size++;
  }

  /** Returns the number of its steps. */
  int size() {
    return size;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Whether it has so many steps that it should be run before more are added. */
  boolean isFull() {
    return size >= SLICE;
  }

  /** Returns how many of its lookups may be in progress at the same time. */
  int weight() {
    return Math.max(1, Math.min(lookups, SLICE));
  }

  /** Whether it looks up a single key, and nothing has been answered yet. */
  boolean isSingle() {
    return size == 1 && lookups == 1 && next == 0;
  }

  /** Returns the only key. */
  byte[] singleKey() {
    byte[] key = keys[0];
    if (key == null) {
      throw new IllegalStateException("a step without a key");
    }
    return key;
  }

  /** Whether a version has been leased, so that the round has begun to run. */
  boolean isOpen() {
    return lease != null;
  }

  /**
   * Leases the version of a data set that answers; {@link #close} releases it.
   *
   * @throws DataSet.DataSetRemovedException if the data set is not served any more
   */
  ServedVersion open(DataSet set) {
    Lease acquired = set.acquire();
    lease = acquired;
    answering = set;
    ServedVersion of = set.version(acquired);
    version = of;
    counts = set.counts();
    return of;
  }

  /** Returns the data set whose version answers. */
  DataSet set() {
    DataSet opened = answering;
    if (opened == null) {
      throw new IllegalStateException("the round is not open");
    }
    return opened;
  }

  /** Returns the version that answers. */
  ServedVersion version() {
    ServedVersion opened = version;
    if (opened == null) {
      throw new IllegalStateException("the round is not open");
    }
    return opened;
  }

  /** Whether all steps are answered. */
  boolean isDone() {
    return next == size;
  }

  /** Whether a reply has begun to leave that cannot be finished: the connection must be cut. */
  boolean isTorn() {
    return torn;
  }

  /** Answers every command by the same error, instead of running. */
  void refuse(String error, ReplyWriter out) {
    for (int i = 0; i < size; i++) {
      if (begins[i]) {
        service.statistics().failed(error);
        out.error(error);
      }
    }
    next = size;
  }

  /**
   * Looks up and answers, until all is answered or the replies have reached a length.
   *
   * @param budget bounds the memory taken for values
   */
  void run(ReplyWriter out, int most, MemoryBudget budget) {
    ServedVersion of = version();
    long longest = Math.max(1, of.statistics.longestValue());
    boolean alone = longest > ALONE || lookups == 1;
    int slice = longest > ALONE ? 1 : (int) Math.min(SLICE, SLICE_BYTES / longest);
    hits = 0;
    misses = 0;
    if (next < size && !begins[next]) {
      replyTaken = -1; // the begin of the reply is on its way
    }
    while (next < size && out.length() < most && !torn) {
      int end = Math.min(size, next + slice);
      next = answer(of, next, end, alone, budget, out);
    }
    counts.found(hits, misses);
  }

  /** Answers the only step with a value that was looked up elsewhere, or with a failure. */
  void answerSingle(byte @Nullable [] value, @Nullable Throwable failure, ReplyWriter out) {
    ServedVersion of = version();
    ServedVersion.Workspace workspace = of.borrow();
    try {
      found.rows = workspace.fields();
      if (failure == null) {
        found.show(value);
        counts.found(value == null ? 0 : 1, value == null ? 1 : 0);
      }
      step(0, failure, out);
      next = 1;
    } finally {
      of.giveBack(workspace);
    }
  }

  /** Looks up a slice and answers its steps; returns where the next slice begins. */
  private int answer(
      ServedVersion of, int from, int to, boolean alone, MemoryBudget budget, ReplyWriter out) {
    ServedVersion.Workspace workspace = of.borrow();
    LookupBatch batch = workspace.batch();
    RowFields rows = workspace.fields();
    found.rows = rows;
    int done = from;
    try {
      byte[] value = null;
      batch.clear();
      batch.use(budget);
      for (int i = from; i < to; i++) {
        byte[] key = keys[i];
        if (key != null && alone) {
          boolean skips = i == from && skipping && !begins[i]; // else a command may begin between
          value = skips ? null : of.database.get(key, budget);
        } else if (key != null && key.length <= LONGEST_KEY) {
          int unused = batch.add(key);
        }
      }
      if (batch.size() > 0) {
        batch.get();
      }
      int number = 0;
      while (done < to) {
        int i = done;
        byte[] key = keys[i];
        if (key != null) {
          if (alone || key.length > LONGEST_KEY) {
            found.show(value);
          } else {
            found.show(batch, number++);
          }
          if (skipping && !begins[i]) {
            // of no use, and perhaps not looked up
          } else if (found.isPresent()) {
            hits++;
          } else {
            misses++;
          }
        }
        step(i, null, out);
        done++;
        if (out.length() > EXPANDED) {
          break;
        }
      }
      return done;
    } catch (IOException | RuntimeException | Error e) { // out of memory, or a mapped file failed
      if (to - from > 1) {
        while (done < to && out.length() <= EXPANDED) {
          done = answer(of, done, done + 1, alone, budget, out);
        }
        return done;
      }
      step(from, e, out);
      return to;
    } finally {
      batch.use(null);
      of.giveBack(workspace);
    }
  }

  /** Answers one step. */
  private void step(int i, @Nullable Throwable failure, ReplyWriter out) {
    if (begins[i]) {
      found.begin();
      skipping = false;
      replyStart = out.length();
      replyTaken = out.taken();
    } else if (skipping) {
      return;
    }
    byte[] key = keys[i];
    if (key != null) {
      tracked.add(key);
    }
    try {
      if (failure != null) {
        fail(error(failure, i), out);
      } else {
        steps[i].answer(found, out);
      }
    } catch (CommandException e) {
      fail(e.reply(), out);
    } catch (RuntimeException | Error e) {
      fail(error(e, i), out);
    }
  }

  /** Replaces the reply of the current command by an error. */
  private void fail(String error, ReplyWriter out) {
    if (replyTaken != out.taken()) {
      torn = true;
      return;
    }
    out.truncate(replyStart);
    out.error(error);
    service.statistics().failed(error);
    skipping = true;
  }

  private String error(Throwable failure, int step) {
    if (failure instanceof MemoryBudgetExceededException || failure instanceof NoRoomException) {
      return "OOM too much memory is held for clients (--max-held); try again";
    }
    if (failure instanceof WrongShardException e) {
      return ClusterCommands.withoutData(service.clusterView(), e.slot());
    }
    if (keys[step] != null) {
      counts.error(1);
      set().failed(failure);
    }
    service.failures.failed("a command", failure);
    return "ERR the lookup failed; the server's log says why";
  }

  /** Releases the version and forgets all steps. */
  void close() {
    Lease held = lease;
    if (held != null) {
      lease = null;
      version = null;
      held.close();
    }
    if (steps.length > KEPT) {
      keys = new byte[64] @Nullable [];
      steps = new KeyStep[64];
      begins = new boolean[64];
    } else {
      Arrays.fill(keys, 0, size, null);
    }
    found.show(null); // drops a long value
    size = 0;
    lookups = 0;
    next = 0;
    skipping = false;
    torn = false;
  }
}
