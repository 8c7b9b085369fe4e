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
import tech.bsdb.tools.serve.dataset.DataSet;
import tech.bsdb.tools.serve.dataset.ServedVersion;

/** Commands about the keys of a data set as a whole. They read files, so workers run them. */
final class ScanCommands {
  /** The most keys and bytes of keys in one reply, whatever COUNT says. */
  private static final int MOST_KEYS = 10_000;

  private static final int MOST_BYTES = 1 << 20;

  /** The most bytes of keys in a reply to KEYS, which may have as many keys as it looks at. */
  private static final int MOST_OF_ALL = 4 << 20;

  /** The most records that one call looks at, unless a part of them cannot be divided more. */
  private static final int MOST_SEEN = 100_000;

  /** A part of the records is scanned in at most about this many calls. */
  private static final int CALLS = 64;

  private static final String OVERTAKEN =
      "ERR the cursor belongs to another version of the data set, which has been replaced; start"
          + " again with cursor 0";

  private ScanCommands() {}

  /**
   * The arguments of a scan.
   *
   * @param type what the values must be, in lower case; null for anything
   * @param values whether the values of fields are wanted
   */
  record Request(
      long cursor, long count, @Nullable Glob pattern, @Nullable String type, boolean values) {
    /**
     * Reads arguments.
     *
     * @param from the place of the first behind the cursor
     * @param fields whether fields are scanned, not keys
     */
    static Request of(List<byte[]> command, int from, boolean fields) throws CommandException {
      long cursor = cursor(command.get(from - 1));
      int end = command.size();
      long count = 10;
      Glob pattern = null;
      String type = null;
      boolean values = true;
      for (int i = from; i < end; i++) {
        String option = Arguments.name(command.get(i));
        if (fields && option.equals("novalues")) {
          values = false;
          continue;
        }
        if (++i == end || (fields && option.equals("type"))) {
          throw new CommandException(CommandException.SYNTAX);
        }
        byte[] given = command.get(i);
        switch (option) {
          case "count" -> count = Arguments.integer(given);
          case "match" -> pattern = new Glob(given);
          case "type" -> type = Arguments.name(given);
          default -> throw new CommandException(CommandException.SYNTAX);
        }
        if (count < 1) {
          throw new CommandException(CommandException.SYNTAX);
        }
      }
      return new Request(cursor, count, pattern, type, values);
    }

    private static long cursor(byte[] argument) throws CommandException {
      try {
        return Long.parseUnsignedLong(Arguments.text(argument));
      } catch (NumberFormatException e) {
        throw new CommandException("ERR invalid cursor");
      }
    }
  }

  /** What one call finds, as it looks at keys: those that are wanted. */
  private static final class Page {
    private final @Nullable Glob pattern;
    private final @Nullable SlotSet own;
    private final int mostKeys;
    private final int mostBytes;
    private final List<byte[]> keys = new ArrayList<>();
    private long bytes;
    private long seen;

    /** The cursor of the next call, 0 at the end. */
    private String next = "0";

    /**
     * Begins a page.
     *
     * @param pattern what keys must match; null if all are wanted
     * @param own the slots of this node in a cluster; null if all keys are its own
     */
    Page(@Nullable Glob pattern, @Nullable SlotSet own, int mostKeys, int mostBytes) {
      this.pattern = pattern;
      this.own = own;
      this.mostKeys = mostKeys;
      this.mostBytes = mostBytes;
    }

    void look(byte[] key) {
      seen++;
      if (SlotSet.isAmong(own, key) && (pattern == null || pattern.matches(key))) {
        keys.add(key);
        bytes += key.length;
      }
    }

    /** Whether the call has looked at so many keys, or found as many as a reply may have. */
    boolean isFull(long enough) {
      return seen >= enough || keys.size() >= mostKeys || bytes >= mostBytes;
    }

    void write(ReplyWriter out) {
      out.array(keys.size());
      keys.forEach(out::bulk);
    }
  }

  static void scan(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    Request request = Request.of(arguments, 2, false);
    Page page = scan(session, request, MOST_KEYS, MOST_BYTES);
    out.array(2);
    out.bulk(page.next);
    page.write(out);
  }

  /** Answers with all keys, or those that match, if a single call of a scan finds them. */
  static void keys(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    if (Arguments.is(arguments.get(1), "*") && ownSlots(session) == null) {
      session.begin(AllKeys.begin(session.selected(), out));
      return;
    }
    Glob pattern = new Glob(arguments.get(1));
    Request request = new Request(0, MOST_SEEN, pattern, null, false);
    Page page = scan(session, request, MOST_SEEN, MOST_OF_ALL);
    if (!page.next.equals("0")) {
      throw new CommandException(
          "ERR KEYS with a pattern or in a cluster looks at "
              + MOST_SEEN
              + " keys at most, and returns at most 4 MiB of them; use SCAN, which finds all");
    }
    page.write(out);
  }

  private static Page scan(Session session, Request request, int mostKeys, int mostBytes)
      throws CommandException, IOException {
    DataSet selected = session.selected();
    try (Lease lease = selected.acquire()) {
      ServedVersion version = selected.version(lease);
      requireKeys(version);
      SlotSet own = ownSlots(session);
      Page page = new Page(request.pattern, own, mostKeys, mostBytes);
      ScanPlaces places = ScanPlaces.of(version.id(), version.statistics.records());
      boolean inKeyOrder = isInKeyOrder(version.database, places, request);
      String type = version.rows == null ? "string" : "hash";
      if ((own != null && own.isEmpty()) || (request.type != null && !request.type.equals(type))) {
        return page; // no key is wanted
      }
      if (inKeyOrder) {
        scanInKeyOrder(version.database, places, request, page);
      } else {
        scan(version.database, places, request, page);
      }
      return page;
    }
  }

  /**
   * Requires that keys are stored.
   *
   * @throws CommandException if the version is approximate
   */
  static void requireKeys(ServedVersion version) throws CommandException {
    if (version.statistics.approximateWidth() > 0) {
      throw new CommandException("ERR the data set is approximate, so it stores no keys");
    }
  }

  /** Whether a scan goes in the order of the keys; the cursor tells, or else the pattern. */
  private static boolean isInKeyOrder(Database database, ScanPlaces places, Request request)
      throws CommandException {
    boolean ordered = database.isOrdered() && places.records() <= ScanPlaces.MOST_NUMBERED;
    if (request.cursor == 0) {
      byte[] prefix = request.pattern == null ? null : request.pattern.literalPrefix();
      return prefix != null && prefix.length > 0 && ordered;
    }
    if (places.owns(request.cursor)) {
      return false;
    }
    if (!ordered || !places.ownsInKeyOrder(request.cursor)) {
      throw new CommandException(OVERTAKEN);
    }
    return true;
  }

  /** Returns the slots whose keys are this node's in a cluster; null if all keys are. */
  private static @Nullable SlotSet ownSlots(Session session) {
    ClusterView cluster = session.service.clusterView();
    return cluster == null ? null : cluster.slots();
  }

  /** Looks at the keys behind the cursor, in the order of the keys. */
  private static void scanInKeyOrder(
      Database database, ScanPlaces places, Request request, Page page) throws IOException {
    byte[] prefix = request.pattern == null ? null : request.pattern.literalPrefix();
    KeyRange range = prefix == null ? KeyRange.all() : KeyRange.prefix(prefix);
    if (request.cursor != 0) {
      range = range.after(database.keyAt(places.keyNumber(request.cursor)));
    }
    try (RecordCursor records = database.range(range, RangeOptions.defaults().withValues(false))) {
      byte[] last = {};
      while (records.next()) {
        if (page.isFull(Math.min(MOST_SEEN, request.count))) {
          page.next = places.cursorBehind(database.keyNumber(last));
          return;
        }
        last = records.key();
        page.look(last);
      }
    }
  }

  /** Looks at the keys from the cursor on, in the order of the files. */
  private static void scan(Database database, ScanPlaces places, Request request, Page page)
      throws IOException {
    long least = Math.min(MOST_SEEN, Math.max(request.count, places.perPart() / CALLS));
    int offset = places.offset(request.cursor);
    for (int part = places.part(request.cursor); part < places.parts(); part++) {
      if (page.seen >= least) {
        page.next = places.cursor(part, 0);
        return;
      }
      try (RecordCursor records = database.scan(places.part(part))) {
        int skipped = 0;
        while (skipped < offset && records.next()) {
          skipped++;
        }
        while (records.next()) {
          if (page.isFull(least) && offset <= places.mostOffset()) {
            page.next = places.cursor(part, offset);
            return;
          }
          page.look(records.key());
          offset++;
        }
      }
      offset = 0;
    }
  }

  /** Returns a key from a random place; of any two keys, one may be likelier than the other. */
  static void randomKey(Session session, List<byte[]> arguments, ReplyWriter out)
      throws CommandException, IOException {
    DataSet selected = session.selected();
    try (Lease lease = selected.acquire()) {
      ServedVersion version = selected.version(lease);
      requireKeys(version);
      ScanPlaces places = ScanPlaces.of(version.id(), version.statistics.records());
      SlotSet own = ownSlots(session);
      RespService service = session.service;
      ThreadLocalRandom random = ThreadLocalRandom.current();
      int first = random.nextInt(places.parts());
      int parts = own != null && own.isEmpty() ? 0 : places.parts();
      for (int i = 0; i < parts; i++) {
        if (service.cluster != null && service.isEnding()) {
          throw new CommandException(ClusterCommands.ENDING);
        }
        byte[] key = randomKey(version.database, places, (first + i) % places.parts(), own, random);
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
      Database database,
      ScanPlaces places,
      int part,
      @Nullable SlotSet own,
      ThreadLocalRandom random)
      throws IOException {
    byte[] chosen = null;
    long bound = Math.min(places.perPart(), 4096);
    long at = random.nextLong(bound);
    try (RecordCursor records = database.scan(places.part(part))) {
      for (long i = 0; (i <= at || chosen == null) && records.next(); i++) {
        byte[] key = records.key();
        chosen = SlotSet.isAmong(own, key) ? key : chosen;
      }
    }
    return chosen;
  }
}
