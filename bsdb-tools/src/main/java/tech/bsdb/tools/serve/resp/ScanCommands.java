package tech.bsdb.tools.serve.resp;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.KeyRange;
import tech.bsdb.RangeOptions;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.cluster.ClusterView;
import tech.bsdb.tools.serve.cluster.SlotSet;

/** Commands about the keys of a data set as a whole. They read files, so workers run them. */
final class ScanCommands {
  /** The most keys and bytes of keys in one reply, whatever COUNT says. */
  private static final int MOST_KEYS = 10_000;

  private static final int MOST_BYTES = 1 << 20;

  /** The most records that one call looks at, unless a part of them cannot be divided more. */
  private static final int MOST_SEEN = 100_000;

  /** A part of the records is scanned in at most about this many calls. */
  private static final int CALLS = 64;

  static final String NO_KEYS = "ERR the data set is approximate, so it stores no keys";
  private static final String OVERTAKEN =
      "ERR the cursor belongs to another version of the data set, which has been replaced; start"
          + " again with cursor 0";

  private ScanCommands() {}

  /** The arguments of a scan. */
  private record Request(long cursor, long count, @Nullable Glob pattern, @Nullable String type) {}

  /** What one call finds: keys, and the cursor of the next call, which is 0 at the end. */
  private record Page(String next, List<byte[]> keys) {}

  static void scan(Selectable selected, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    Page page = scan(selected, request(arguments));
    out.array(2);
    out.bulk(page.next);
    out.array(page.keys.size());
    page.keys.forEach(out::bulk);
  }

  /** Answers with all keys that match, if a single call of a scan finds them. */
  static void keys(Selectable selected, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    Glob pattern = new Glob(arguments.get(1));
    Page page = scan(selected, new Request(0, MOST_SEEN, pattern, null));
    if (!page.next.equals("0")) {
      throw new CommandException(
          "ERR KEYS looks at "
              + MOST_SEEN
              + " keys at most, and returns "
              + MOST_KEYS
              + " of at most 1 MiB; use SCAN, which finds all");
    }
    out.array(page.keys.size());
    page.keys.forEach(out::bulk);
  }

  private static Page scan(Selectable selected, Request request)
      throws CommandException, IOException {
    try (Lease lease = selected.acquire()) {
      ServedVersion version = selected.version(lease.database());
      requireKeys(version);
      return isInKeyOrder(version, request)
          ? scanInKeyOrder(version, request, ownSlots(selected))
          : scan(version, request, ownSlots(selected));
    }
  }

  /** Whether a scan goes in the order of the keys; the cursor tells, or else the pattern. */
  private static boolean isInKeyOrder(ServedVersion version, Request request)
      throws CommandException {
    if (request.cursor == 0) {
      byte[] prefix = request.pattern == null ? null : request.pattern.literalPrefix();
      return prefix != null && prefix.length > 0 && version.isOrdered();
    }
    if (version.places().owns(request.cursor)) {
      return false;
    }
    if (!version.isOrdered() || !version.places().ownsInKeyOrder(request.cursor)) {
      throw new CommandException(OVERTAKEN);
    }
    return true;
  }

  /** Returns the slots whose keys are this node's in a cluster; null if all keys are. */
  private static @Nullable SlotSet ownSlots(Selectable selected) {
    ClusterView cluster = selected.service().clusterView();
    return cluster == null ? null : cluster.slots();
  }

  private static Request request(List<byte[]> arguments) throws CommandException {
    long cursor = cursor(arguments.get(1));
    long count = 10;
    Glob pattern = null;
    String type = null;
    for (int i = 2; i < arguments.size(); i += 2) {
      if (i + 1 == arguments.size()) {
        throw new CommandException(CommandException.SYNTAX);
      }
      byte[] given = arguments.get(i + 1);
      switch (Arguments.name(arguments.get(i))) {
        case "count" -> {
          count = Arguments.integer(given);
          if (count < 1) {
            throw new CommandException(CommandException.SYNTAX);
          }
        }
        case "match" -> pattern = new Glob(given);
        case "type" -> type = Arguments.name(given);
        default -> throw new CommandException(CommandException.SYNTAX);
      }
    }
    return new Request(cursor, count, pattern, type);
  }

  static long cursor(byte[] argument) throws CommandException {
    try {
      return Long.parseUnsignedLong(Arguments.text(argument));
    } catch (NumberFormatException e) {
      throw new CommandException("ERR invalid cursor");
    }
  }

  private static void requireKeys(ServedVersion version) throws CommandException {
    if (version.approximate()) {
      throw new CommandException(NO_KEYS);
    }
  }

  /** Returns the keys behind the cursor, in the order of the keys, and the cursor of the next. */
  private static Page scanInKeyOrder(ServedVersion version, Request request, @Nullable SlotSet own)
      throws IOException {
    Database database = version.database();
    byte[] prefix = request.pattern == null ? null : request.pattern.literalPrefix();
    KeyRange range = prefix == null ? KeyRange.all() : KeyRange.prefix(prefix);
    if (request.cursor != 0) {
      range = range.after(database.keyAt(version.places().keyNumber(request.cursor)));
    }
    long most = Math.min(MOST_SEEN, request.count);
    List<byte[]> keys = new ArrayList<>();
    long bytes = 0;
    String next = "0";
    if (isOfType(version, request) && (own == null || !own.isEmpty())) {
      try (RecordCursor records =
          database.range(range, RangeOptions.defaults().withValues(false))) {
        byte[] last = {};
        for (long seen = 0; records.next(); seen++) {
          if (seen >= most || keys.size() >= MOST_KEYS || bytes >= MOST_BYTES) {
            next = version.places().cursorBehind(database.keyNumber(last));
            break;
          }
          last = records.key();
          if (SlotSet.isAmong(own, last)
              && (request.pattern == null || request.pattern.matches(last))) {
            keys.add(last);
            bytes += last.length;
          }
        }
      }
    }
    return new Page(next, keys);
  }

  private static boolean isOfType(ServedVersion version, Request request) {
    return request.type == null || request.type.equals(version.holdsRows() ? "hash" : "string");
  }

  /** Returns the keys from the cursor on, in the order of the files, and the cursor of the next. */
  private static Page scan(ServedVersion version, Request request, @Nullable SlotSet own)
      throws IOException {
    ScanPlaces places = version.places();
    boolean wanted = isOfType(version, request);
    long least = Math.min(MOST_SEEN, Math.max(request.count, places.perPart() / CALLS));
    List<byte[]> keys = new ArrayList<>();
    boolean nothing = own != null && own.isEmpty();
    int part = places.part(request.cursor);
    int offset = places.offset(request.cursor);
    long seen = 0;
    long bytes = 0;
    String next = "0";
    while (part < places.parts() && !nothing) {
      boolean ended = true;
      try (RecordCursor records = version.database().scan(places.part(part))) {
        int skipped = 0;
        while (skipped < offset && records.next()) {
          skipped++;
        }
        while (records.next()) {
          boolean enough = seen >= least || keys.size() >= MOST_KEYS || bytes >= MOST_BYTES;
          if (enough && offset <= places.mostOffset()) {
            ended = false;
            break;
          }
          byte[] key = records.key();
          if (wanted
              && SlotSet.isAmong(own, key)
              && (request.pattern == null || request.pattern.matches(key))) {
            keys.add(key);
            bytes += key.length;
          }
          offset++;
          seen++;
        }
      }
      if (!ended) {
        next = places.cursor(part, offset);
        break;
      }
      part++;
      offset = 0;
      if (seen >= least && part < places.parts()) {
        next = places.cursor(part, 0);
        break;
      }
    }
    return new Page(next, keys);
  }

  /** Returns a key from a random place; of any two keys, one may be likelier than the other. */
  static void randomKey(Selectable selected, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    try (Lease lease = selected.acquire()) {
      ServedVersion version = selected.version(lease.database());
      requireKeys(version);
      ScanPlaces places = version.places();
      SlotSet own = ownSlots(selected);
      ThreadLocalRandom random = ThreadLocalRandom.current();
      int first = random.nextInt(places.parts());
      int parts = own != null && own.isEmpty() ? 0 : places.parts();
      for (int i = 0; i < parts; i++) {
        RespCluster.requireGoingOn(selected.service().cluster());
        byte[] key = randomKey(version, (first + i) % places.parts(), own, random);
        if (key != null) {
          out.bulk(key);
          return;
        }
      }
      out.absent();
    }
  }

  /** Returns a random key of a part; null if none of the part is this node's. */
  private static byte @Nullable [] randomKey(
      ServedVersion version, int part, @Nullable SlotSet own, ThreadLocalRandom random)
      throws IOException {
    byte[] chosen = null;
    long bound = Math.min(version.places().perPart(), 4096);
    long at = random.nextLong(bound);
    try (RecordCursor records = version.database().scan(version.places().part(part))) {
      for (long i = 0; (i <= at || chosen == null) && records.next(); i++) {
        byte[] key = records.key();
        chosen = SlotSet.isAmong(own, key) ? key : chosen;
      }
    }
    return chosen;
  }
}
