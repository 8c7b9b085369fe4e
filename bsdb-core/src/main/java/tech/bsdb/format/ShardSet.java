package tech.bsdb.format;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The facts that the manifest of a set of shards states (FORMAT.md §14). Each shard is an ordinary
 * database in a directory of its own; the keys are routed to them by {@link KeySlots}.
 *
 * <p>A directory may hold only some of the shards. Its manifest then lists all shards, too, and
 * states which of them it holds: a partial set.
 *
 * @param records number of keys in all shards, held or not
 * @param shards all shards, by number
 * @param held the numbers of the shards that are held, ascending; of a whole set, all
 * @param whole the id of the whole set if this is a partial one, otherwise null
 */
public record ShardSet(
    long records, List<Shard> shards, List<Integer> held, @Nullable DatabaseId whole) {
  /** The layout that the manifest of a set names, by which a reader recognizes it. */
  public static final String LAYOUT = "sharded";

  /** The most shards of a set: each has at least one slot. */
  public static final int MOST = KeySlots.COUNT;

  // The names of the facts, besides those that Facts names, too.
  private static final String RECORDS = "records";
  private static final String SET_ID = "set.id";
  private static final String SET_HELD = "set.held";

  /** What a partial set has between the lines of the whole set. */
  private static final Pattern SET_LINES =
      Pattern.compile("(\nshard\\.hash=.*\n)set\\.id=.*\nset\\.held=.*\n(?=shard=)");

  /** The most characters of ranges in a message. */
  private static final int MOST_SHOWN = 80;

  /**
   * One shard of a set.
   *
   * @param number its number, from 0
   * @param id its database id
   * @param records its number of keys
   */
  public record Shard(int number, DatabaseId id, long records) {
    /** The name of its directory in the directory of the set. */
    public String directoryName() {
      return Manifest.shardDirectory(number) + "-" + id.shortName();
    }
  }

  /** Copies the lists. */
  public ShardSet {
    shards = List.copyOf(shards);
    held = List.copyOf(held);
  }

  /** The whole set of the given shards. */
  public static ShardSet of(List<Shard> shards) {
    long records = shards.stream().mapToLong(Shard::records).sum();
    List<Integer> all = IntStream.range(0, shards.size()).boxed().toList();
    return new ShardSet(records, shards, all, null);
  }

  /**
   * The set that holds only some of the shards that this one holds.
   *
   * @param set the id of the whole set
   * @param numbers the numbers of these shards, in any order
   * @return a partial set, or this if the numbers are those of all shards
   * @throws IllegalArgumentException if there are no numbers, if one is not {@link #held}, or if
   *     this is a part of another set
   */
  public ShardSet holding(DatabaseId set, Collection<Integer> numbers) {
    TreeSet<Integer> wanted = new TreeSet<>(numbers);
    if (wanted.isEmpty() || !wanted.stream().allMatch(this::holds)) {
      throw new IllegalArgumentException("shards " + wanted + ", not some of " + shownHeld());
    }
    if (whole != null && !whole.equals(set)) {
      throw new IllegalArgumentException("a part of the set " + whole + ", not of " + set);
    }
    return wanted.size() == shards.size()
        ? this
        : new ShardSet(records, shards, List.copyOf(wanted), set);
  }

  /** Whether all shards are held. */
  public boolean isWhole() {
    return whole == null;
  }

  /** Whether a shard is held. */
  public boolean holds(int number) {
    return Collections.binarySearch(held, number) >= 0;
  }

  /** The shards that are held, by number. */
  public List<Shard> heldShards() {
    return held.stream().map(shards::get).toList();
  }

  /** The number of keys in the shards that are held. */
  public long heldRecords() {
    return heldShards().stream().mapToLong(Shard::records).sum();
  }

  /** The shards that are held, for messages: "shards 0-15,18 of 32", or their count if long. */
  public String shownHeld() {
    String ranges = ShardRanges.text(held);
    return ranges.length() <= MOST_SHOWN
        ? "shards " + ranges + " of " + shards.size()
        : held.size() + " of " + shards.size() + " shards";
  }

  /** Whether a manifest is that of a set. */
  public static boolean isSet(Manifest manifest) {
    return LAYOUT.equals(Facts.layoutName(manifest));
  }

  /**
   * Reads the facts.
   *
   * @throws IllegalArgumentException if a fact is missing, has the wrong type or is out of range
   */
  public static ShardSet of(Manifest manifest) {
    ShardSet set = of(manifest.shards());
    int count = Facts.shardCount(manifest, 2, MOST);
    if (count != set.shards.size()) {
      throw new IllegalArgumentException(count + " shards, but " + set.shards.size() + " listed");
    }
    for (int i = 0; i < count; i++) {
      Shard shard = set.shards.get(i);
      if (shard.number != i || shard.records < 0) {
        throw new IllegalArgumentException(shard + " listed as number " + i);
      }
    }
    if (manifest.number(RECORDS) != set.records) {
      throw new IllegalArgumentException(
          manifest.number(RECORDS) + " records, but " + set.records + " in the shards");
    }
    boolean partial = manifest.textOrNull(SET_ID) != null || manifest.textOrNull(SET_HELD) != null;
    return partial ? set.partial(manifest.text(SET_ID), manifest.text(SET_HELD)) : set;
  }

  /** Reads the facts of a partial set. */
  private ShardSet partial(String setId, String setHeld) {
    DatabaseId set = DatabaseId.parse(setId);
    if (!set.toString().equals(setId)) {
      throw new IllegalArgumentException("not a database id: " + setId);
    }
    List<Integer> numbers = ShardRanges.parse(setHeld, shards.size());
    if (numbers.size() == shards.size()) {
      throw new IllegalArgumentException("a partial set with all shards, " + setHeld);
    }
    return holding(set, numbers);
  }

  /** Whether a text is the manifest of a set. */
  static boolean isText(String text) {
    return text.contains("\nlayout=" + LAYOUT + "\n");
  }

  /** The text of the whole set's manifest, given that of a partial set; any other as it is. */
  static String wholeText(String text) {
    return SET_LINES.matcher(text).replaceFirst("$1");
  }

  /** Creates the manifest of the set. */
  public Manifest manifest() {
    Manifest.Builder manifest = Facts.setManifest(LAYOUT, records, shards.size());
    if (whole != null) {
      manifest.put(SET_ID, whole).put(SET_HELD, ShardRanges.text(held));
    }
    shards.forEach(manifest::shard);
    return manifest.build();
  }
}
