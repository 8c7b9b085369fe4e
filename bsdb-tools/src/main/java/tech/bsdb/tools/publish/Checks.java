package tech.bsdb.tools.publish;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.DiffListener;
import tech.bsdb.DiffOptions;
import tech.bsdb.DiffReport;
import tech.bsdb.ScanOptions;
import tech.bsdb.Statistics;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.error.WrongShardException;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Diagnosis;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.Encoding;
import tech.bsdb.tools.input.KeyList;
import tech.bsdb.tools.inspect.DiffCommand;
import tech.bsdb.tools.inspect.KeyReader;

/**
 * The checks that a new version must pass before it goes live, and their options.
 *
 * @param minRecords the minimum number of records
 * @param maxShrink the maximum decrease, in percent of the current version's records; negative for
 *     no limit
 * @param sample how many keys are sampled from each version, 0 for none
 * @param minKept the percentage of the current version's keys that must be present; negative if not
 *     required
 * @param allowKeyChange whether a different form of keys, or a different set of keys, is accepted
 * @param queries a file of keys that must be present, or null
 * @param keyEncoding the encoding of the keys in that file
 * @param counting when to count what the new version changes
 */
public record Checks(
    long minRecords,
    double maxShrink,
    int sample,
    double minKept,
    boolean allowKeyChange,
    @Nullable Path queries,
    Encoding keyEncoding,
    Counting counting) {
  /** The number of key slots, of which a shard has a range (FORMAT.md §14). */
  private static final int SLOTS = 16_384;

  private static final String DIFF = "--diff";
  private static final String NO_DIFF = "--no-diff";

  /** As many records are quickly looked up. */
  private static final long FEW = 1_000_000;

  private static final int ENOUGH_TO_JUDGE = 100;
  private static final int SHOWN = 3;

  private static final long SAMPLE_SEED = 20_261_121;
  private static final long SAMPLED_RECORDS = 1_000_000;

  /** The most characters of ranges in a message. */
  private static final int MOST_RANGES = 80;

  /** When all records of the new version and the current one are compared. */
  public enum Counting {
    /** If {@code --min-kept} needs it. */
    IF_NEEDED,
    /** Also if both can be read from front to back, or are small. */
    IF_CHEAP,
    /** Always. */
    ALWAYS
  }

  /** The findings of the checks, by name and in sentences, for the report. */
  record Findings(Map<String, Object> figures, List<String> said, List<String> leftOut) {
    Findings() {
      this(new LinkedHashMap<>(), new ArrayList<>(), new ArrayList<>());
    }

    private void leaveOut(String what) {
      leftOut.add(what);
    }
  }

  /** Reads the options of a command that counts what changes. */
  static Checks withDiff(Arguments arguments) throws UsageException {
    boolean never = arguments.has(NO_DIFF);
    boolean always = arguments.has(DIFF);
    if (never && always) {
      throw new UsageException("give either " + DIFF + " or " + NO_DIFF);
    }
    Checks checks =
        of(arguments, never ? Counting.IF_NEEDED : always ? Counting.ALWAYS : Counting.IF_CHEAP);
    if (never && checks.minKept >= 0) {
      throw new UsageException("--min-kept compares the versions; omit " + NO_DIFF);
    }
    return checks;
  }

  /**
   * Reads the options.
   *
   * @param counting when to count what the new version changes
   */
  public static Checks of(Arguments arguments, Counting counting) throws UsageException {
    Checks checks =
        new Checks(
            arguments.number("--min-records", 0, Long.MAX_VALUE, 0),
            percent(arguments, "--max-shrink"),
            arguments.integer("--sample", 0, 1_000_000, 1000),
            percent(arguments, "--min-kept"),
            arguments.has("--allow-key-change"),
            arguments.path("--queries").orElse(null),
            arguments.choice("--key-encoding", Encoding.class, Encoding.UTF8),
            counting);
    if (checks.queries != null && !Files.isReadable(checks.queries)) {
      throw new UsageException("--queries " + checks.queries + ": no such file, or not readable");
    }
    return checks;
  }

  private static double percent(Arguments arguments, String option) throws UsageException {
    Optional<String> given = arguments.text(option);
    if (given.isEmpty()) {
      return -1;
    }
    if (given.get().matches("[0-9]{1,3}(\\.[0-9]{1,9})?")) {
      double percent = Double.parseDouble(given.get());
      if (percent <= 100) {
        return percent;
      }
    }
    throw new UsageException(
        option + " takes a percentage from 0 to 100, not \"" + given.get() + "\"");
  }

  /** Checks the number of records. */
  void records(long records, Current current) throws VersionRefusedException {
    if (records < minRecords) {
      throw new VersionRefusedException(
          "the new version has %s records, fewer than the %s of --min-records"
              .formatted(records, minRecords));
    }
    if (maxShrink >= 0 && !current.unreadable().isEmpty()) {
      throw cannotCompare("--max-shrink", current.name(), current.unreadable());
    }
    if (maxShrink < 0 || current.records() == 0) {
      return;
    }
    long lost = current.records() - records;
    if (compareShare(lost, current.records(), maxShrink) > 0) {
      throw new VersionRefusedException(
          ("the new version has %s records, %s %% fewer than the %s of %s, the current version;"
                  + " --max-shrink allows %s %%")
              .formatted(
                  records,
                  shown(lost, current.records(), maxShrink),
                  current.records(),
                  current.name(),
                  shown(maxShrink)));
    }
  }

  private static VersionRefusedException cannotCompare(String option, String current, String why) {
    return new VersionRefusedException(
        "%s cannot be checked%s (roll back first, or omit the option)"
            .formatted(option, because(current, why)));
  }

  private static String because(String current, String why) {
    return ", because " + current + ", the current version, cannot be read: " + why;
  }

  /**
   * Checks that the required keys are present, and that the keys are like those of the current
   * version.
   *
   * @param listener receives the progress of the comparison
   */
  Findings keys(Path added, Current current, DiffListener listener) throws IOException {
    Findings findings = new Findings();
    try (Database next = Database.open(added)) {
      if (current.directory() != null && !allowKeyChange) {
        refuseNarrower(next.statistics(), current.directory(), current.name(), findings);
      }
      if (queries != null) {
        findings.figures().put("queries", all(next, queries));
      }
      if (current.directory() != null) {
        compare(next, current.directory(), current.name(), findings, listener);
      } else if (minKept >= 0 || maxShrink >= 0) {
        findings.leaveOut("no version is current yet: nothing to compare the new one with");
      }
    }
    return findings;
  }

  private void compare(
      Database next, Path old, String current, Findings findings, DiffListener listener)
      throws IOException {
    if (sample == 0) {
      findings.leaveOut("form and set of keys are not compared: --sample is 0");
      if (!counts()) {
        return;
      }
    }
    Database before;
    try {
      before = Database.open(old);
    } catch (IOException e) {
      unreadable("form and set of keys are not compared", current, e, findings);
      return;
    }
    try (before) {
      if (keepsNoKeys(next, before, current, findings)) {
        return;
      }
      if (sample == 0 || compareSamples(next, before, current, findings)) {
        count(next, before, current, findings, listener);
      }
    }
  }

  /** Whether all records of both versions are to be compared. */
  private boolean counts() {
    return counting != Counting.IF_NEEDED || minKept >= 0;
  }

  /** Compares sampled keys; returns false if the current version cannot be read. */
  private boolean compareSamples(Database next, Database before, String current, Findings findings)
      throws IOException {
    List<byte[]> oldKeys;
    try {
      oldKeys = sampled(before);
    } catch (IOException e) {
      unreadable("form and set of keys are not compared", current, e, findings);
      return false;
    }
    List<byte[]> newKeys = sampled(next);
    if (!oldKeys.isEmpty() && !newKeys.isEmpty()) {
      form(oldKeys, newKeys, current, findings);
    }
    if (!oldKeys.isEmpty()) {
      kept(next, oldKeys, current, findings);
    }
    return true;
  }

  /**
   * Draws keys evenly from the first million records of a database, always the same ones, by a scan
   * (Vitter's algorithm R).
   */
  private List<byte[]> sampled(Database database) throws IOException {
    SplittableRandom random = new SplittableRandom(SAMPLE_SEED);
    List<byte[]> keys = new ArrayList<>();
    try (Database.RecordCursor records = database.scan(ScanOptions.defaults().withValues(false))) {
      for (long seen = 0; seen < SAMPLED_RECORDS && records.next(); seen++) {
        if (keys.size() < sample) {
          keys.add(records.key());
        } else {
          long place = random.nextLong(seen + 1);
          if (place < sample) {
            keys.set((int) place, records.key());
          }
        }
      }
    }
    return keys;
  }

  /** Refuses if a check needs the current version; otherwise notes that it cannot be read. */
  private void unreadable(String leftOut, String current, IOException why, Findings findings)
      throws VersionRefusedException {
    String words = Diagnosis.of(why).words();
    if (minKept >= 0) {
      throw cannotCompare("--min-kept", current, words);
    }
    findings.leaveOut(leftOut + because(current, words));
  }

  /** Counts what the new version changes, and checks how much it keeps. */
  private void count(
      Database next, Database before, String current, Findings findings, DiffListener listener)
      throws IOException {
    if (!counts()) {
      return;
    }
    if (counting == Counting.IF_CHEAP
        && minKept < 0
        && before.statistics().records() > FEW
        && !Database.haveSameOrder(before, next)) {
      findings.leaveOut(
          "the changes are not counted, because that takes a lookup of each key; "
              + DIFF
              + " counts them");
      return;
    }
    long kept = 0;
    try {
      // a server that follows a source has lookups to answer meanwhile
      DiffOptions options = DiffOptions.defaults();
      DiffReport report =
          Database.diff(
              before,
              next,
              counting == Counting.IF_NEEDED ? options.withThreads(1) : options,
              listener);
      findings.figures().put("changes", DiffCommand.figures(report));
      findings.said().add("compared with " + current + ": " + DiffCommand.forPeople(report));
      kept = report.kept() + report.changed();
    } catch (IllegalArgumentException e) { // parts of sets
      findings.leaveOut(
          "the changes are not counted: the new version and " + current + " have different shards");
      if (minKept >= 0) {
        kept = all(next, before);
      }
    } catch (IOException e) {
      if (!concerns(e, before)) {
        throw e;
      }
      unreadable("the changes are not counted", current, e, findings);
      return;
    }
    long records = before.statistics().records();
    if (minKept >= 0 && compareShare(kept, records, minKept) < 0) {
      throw new VersionRefusedException(
          "%s of the %s keys of %s are in the new version (%s %%); --min-kept requires %s %%"
              .formatted(kept, records, current, shown(kept, records, minKept), shown(minKept)));
    }
  }

  /** Whether a file of the database is damaged or cannot be read. */
  private static boolean concerns(IOException e, Database database) {
    Path directory = database.statistics().directory();
    return e instanceof CorruptDatabaseException damage
        ? damage.file().startsWith(directory)
        : String.valueOf(e.getMessage()).startsWith(directory.toString());
  }

  /** Counts the keys that are in another database, too; those of its other shards are not. */
  private static long all(Database next, Database before) throws IOException {
    long found = 0;
    try (Database.RecordCursor records = before.scan(ScanOptions.defaults().withValues(false))) {
      while (records.next()) {
        found += has(next, records.key()) ? 1 : 0;
      }
    }
    return found;
  }

  /** Whether a database has a key; it has none of shards that it does not hold. */
  private static boolean has(Database database, byte[] key) throws IOException {
    try {
      return database.read(key, value -> true) != null;
    } catch (WrongShardException foreign) {
      return false;
    }
  }

  private boolean keepsNoKeys(Database next, Database before, String current, Findings findings)
      throws VersionRefusedException {
    boolean nextKeeps = next.statistics().approximateWidth() == 0;
    boolean beforeKeeps = before.statistics().approximateWidth() == 0;
    if (nextKeeps && beforeKeeps) {
      return false;
    }
    String which = beforeKeeps ? "the new version" : nextKeeps ? current : "each of the versions";
    if (minKept >= 0) {
      throw new VersionRefusedException(
          "--min-kept cannot be checked: " + which + " is approximate and keeps no keys");
    }
    String why = ": " + which + " is approximate, without keys";
    findings.leaveOut("form and set of keys are not compared" + why);
    if (counts()) {
      findings.leaveOut("the changes are not counted" + why);
    }
    return true;
  }

  /**
   * Refuses one or some shards in place of what answers keys of other shards, too: the servers
   * would lose them.
   */
  private void refuseNarrower(Statistics next, Path old, String current, Findings findings)
      throws VersionRefusedException {
    Statistics before;
    try {
      before = Database.statistics(old);
    } catch (IOException e) {
      if (sample == 0) { // otherwise reported where the keys are compared
        findings.leaveOut("key slots are not compared" + because(current, Diagnosis.of(e).words()));
      }
      return;
    }
    BitSet lost = slots(before);
    lost.andNot(slots(next));
    if (!lost.isEmpty()) {
      throw new VersionRefusedException(
          ("the new version is %s of %s with the key slots %s, but %s, the current version, has %s;"
                  + " publish the whole set, or use another store; --allow-key-change accepts that")
              .formatted(
                  shards(next), next.shards(), shown(slots(next)), current, shown(slots(before))));
    }
  }

  private static String shards(Statistics database) {
    String ranges = database.heldShardRanges();
    int held = database.heldShards().size();
    return held == 1
        ? "shard " + ranges
        : ranges.length() <= MOST_RANGES ? "shards " + ranges : held + " shards";
  }

  /** The slots of all shards that a database holds. */
  private static BitSet slots(Statistics database) {
    BitSet slots = new BitSet(SLOTS);
    for (int shard : database.heldShards()) {
      slots.set(shard * SLOTS / database.shards(), (shard + 1) * SLOTS / database.shards());
    }
    return slots;
  }

  /** The first ranges of some slots, for messages: "0 to 2047, 4096 to 6143, ...". */
  private static String shown(BitSet slots) {
    List<String> ranges = new ArrayList<>();
    int from = slots.nextSetBit(0);
    while (from >= 0 && ranges.size() < SHOWN) {
      int end = slots.nextClearBit(from);
      ranges.add(from + " to " + (end - 1));
      from = slots.nextSetBit(end);
    }
    return String.join(", ", ranges) + (from < 0 ? "" : ", ...");
  }

  private void form(List<byte[]> oldKeys, List<byte[]> newKeys, String current, Findings findings)
      throws VersionRefusedException {
    KeyForm form = KeyForm.of(oldKeys);
    findings.figures().put("keyForm", KeyForm.of(newKeys).words());
    Optional<byte[]> misfit = form.misfit(newKeys);
    if (misfit.isPresent() && !allowKeyChange) {
      throw new VersionRefusedException(
          ("the form of the keys differs from that of %s (%s): they are %s, for example %s;"
                  + " --allow-key-change accepts that")
              .formatted(
                  current,
                  form.words(),
                  KeyForm.of(newKeys).words(),
                  DuplicateKeyException.show(misfit.get())));
    }
  }

  private void kept(Database next, List<byte[]> oldKeys, String current, Findings findings)
      throws IOException {
    long found = 0;
    for (byte[] key : oldKeys) {
      found += has(next, key) ? 1 : 0;
    }
    findings.figures().put("sampled", oldKeys.size());
    findings.figures().put("kept", found);
    if (found == 0 && oldKeys.size() >= ENOUGH_TO_JUDGE && minKept < 0 && !allowKeyChange) {
      throw new VersionRefusedException(
          ("0 of %s keys sampled from %s are in the new version: this is a different set of keys;"
                  + " --allow-key-change accepts that")
              .formatted(oldKeys.size(), current));
    }
  }

  private long all(Database next, Path file) throws IOException {
    List<String> absent = new ArrayList<>();
    long missing = 0;
    long keys = 0;
    try (InputStream in = KeyList.open(file)) {
      KeyReader lines = new KeyReader(in);
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        keys++;
        byte[] key = keyEncoding == Encoding.UTF8 ? line : decoded(line, file, keys);
        if (!has(next, key)) {
          missing++;
          if (absent.size() < SHOWN) {
            absent.add(DuplicateKeyException.show(key));
          }
        }
      }
    }
    if (missing > 0) {
      throw new VersionRefusedException(
          "%s of the %s keys of --queries %s are not in the new version: %s%s"
              .formatted(
                  missing,
                  keys,
                  file,
                  String.join(", ", absent),
                  missing > absent.size() ? ", ..." : ""));
    }
    return keys;
  }

  private byte[] decoded(byte[] line, Path file, long number) throws VersionRefusedException {
    try {
      return keyEncoding.decode(new String(line, UTF_8));
    } catch (IllegalArgumentException e) {
      throw new VersionRefusedException(file + ":" + number + ": " + e.getMessage());
    }
  }

  /** Compares a share of a whole with a percentage, exactly; every share of nothing is equal. */
  private static int compareShare(long part, long whole, double percent) {
    return BigDecimal.valueOf(part)
        .multiply(BigDecimal.valueOf(100))
        .compareTo(BigDecimal.valueOf(whole).multiply(BigDecimal.valueOf(percent)));
  }

  /** A share in percent, with two digits, or as many as show on which side of a limit it is. */
  private static String shown(long part, long whole, double limit) {
    int side = compareShare(part, whole, limit);
    BigDecimal shown;
    int digits = 2;
    do {
      shown =
          BigDecimal.valueOf(part)
              .multiply(BigDecimal.valueOf(100))
              .divide(BigDecimal.valueOf(whole), digits++, RoundingMode.HALF_UP);
    } while (shown.compareTo(BigDecimal.valueOf(limit)) != side);
    return plain(shown);
  }

  /** A limit with all digits that the user gave; there are never more than a double keeps. */
  private static String shown(double percent) {
    return plain(BigDecimal.valueOf(percent));
  }

  private static String plain(BigDecimal number) {
    return number.stripTrailingZeros().toPlainString();
  }

  /**
   * The version that a new one is compared with.
   *
   * @param name its name; empty if no version is current
   * @param directory its database, or null if no version is current
   * @param statistics its figures, or null if it cannot be opened
   * @param unreadable why it cannot be opened; empty if it can
   */
  record Current(
      String name, @Nullable Path directory, @Nullable Statistics statistics, String unreadable) {
    static final Current NONE = new Current("", null, null, "");

    static Current of(Path store, String name) {
      Path directory = store.resolve(name);
      try {
        return new Current(name, directory, Database.statistics(directory), "");
      } catch (IOException e) {
        return new Current(name, directory, null, Diagnosis.of(e).words());
      }
    }

    boolean readable() {
      return statistics != null;
    }

    /** Its number of records, or 0 if it cannot be read. */
    long records() {
      return statistics == null ? 0 : statistics.records();
    }
  }

  /** A version failed a check; the message has the figures and the option that required it. */
  static final class VersionRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    VersionRefusedException(String message) {
      super(message);
    }
  }
}
