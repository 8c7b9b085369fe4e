package tech.bsdb.spark.options;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.text.NameList;

/**
 * Reads options as users write them: those of a DataFrame's reader or writer, and the properties of
 * a table, which may have the options of reading and of writing together. Immutable.
 */
public final class OptionValues {
  private static final List<String> BOTH = List.of("path", "key", "keyJoin");
  private static final List<String> READING = List.of("cacheBytes", "keyType", "valueType");
  private static final List<String> WRITING =
      List.of(
          "allowEmptyKey",
          "approximateWidth",
          "blockSize",
          "checksumBits",
          "columns",
          "dataFiles",
          "dictionaryBytes",
          "filterBits",
          "hash",
          "keep",
          "layout",
          "level",
          "memoryMb",
          "onBadRow",
          "onDuplicate",
          "orderBy",
          "ordered",
          "report",
          "sampleRecords",
          "seed",
          "shards",
          "temporaryDirectory",
          "uploadThreads",
          "value",
          "version");

  private static final List<String> NAMES =
      Stream.of(BOTH, READING, WRITING).flatMap(List::stream).toList();

  /** What Spark adds by itself, above all to the properties of tables. */
  private static final Set<String> OF_SPARK =
      Set.of(
          "provider",
          "location",
          "owner",
          "external",
          "is_managed_location",
          "comment",
          "collation");

  private final CaseInsensitiveStringMap given;

  /**
   * Checks the names. Settings of Hadoop, which have dots in theirs, are left to it.
   *
   * @throws IllegalArgumentException if there is no such option
   */
  public OptionValues(CaseInsensitiveStringMap given) {
    this.given = given;
    if (given.containsKey("paths")) { // what load(PATH, PATH) becomes
      throw new IllegalArgumentException(
          "load takes one path, not several: read each with a load of its own, and unite them as"
              + " in a.union(b)");
    }
    for (String name : given.keySet()) {
      if (!name.contains(".")
          && !OF_SPARK.contains(name)
          && NAMES.stream().noneMatch(name::equalsIgnoreCase)) {
        throw new IllegalArgumentException(
            "unknown option %s%s; the options are %s, for reading %s, and for writing %s"
                .formatted(
                    name,
                    NearestName.to(name, NAMES)
                        .map(near -> ", did you mean " + near + "?")
                        .orElse(""),
                    String.join(", ", BOTH),
                    String.join(", ", READING),
                    String.join(", ", WRITING)));
      }
    }
  }

  /** The properties of a table, with the options of a query or a write in place of them. */
  public static CaseInsensitiveStringMap merged(
      CaseInsensitiveStringMap properties, CaseInsensitiveStringMap options) {
    Map<String, String> all = new HashMap<>(properties.asCaseSensitiveMap());
    all.keySet().removeIf(options::containsKey);
    all.putAll(options.asCaseSensitiveMap());
    return new CaseInsensitiveStringMap(all);
  }

  /** The configuration of Hadoop of a session, with the settings among these options. */
  public Configuration hadoop(SparkSession session) {
    Configuration hadoop = session.sessionState().newHadoopConf();
    given
        .asCaseSensitiveMap()
        .forEach(
            (name, value) -> {
              if (name.contains(".")) {
                hadoop.set(name, value, "options");
              }
            });
    return hadoop;
  }

  /** The text between several key columns, or null. */
  public @Nullable String keyJoin() {
    return text("keyJoin");
  }

  /**
   * The key columns: one, or several with {@link #keyJoin}; empty if none are given.
   *
   * @throws IllegalArgumentException if one has no name or is named twice, or there is only one
   */
  public List<String> keys() {
    String written = text("key");
    if (written == null) {
      return List.of();
    }
    if (keyJoin() == null) {
      return parsed("key", written, text -> List.of(NameList.one(text)));
    }
    List<String> keys = names("key");
    if (keys.size() == 1) {
      throw new IllegalArgumentException(
          "keyJoin is for several columns, as in .option(\"key\", \"country,city\")");
    }
    return keys;
  }

  /** The value of an option, or null if it is not given. */
  public @Nullable String text(String name) {
    if (!NAMES.contains(name)) {
      throw new IllegalStateException(name);
    }
    return given.get(name);
  }

  /** Whether an option is true; false if it is not given. */
  public boolean flag(String name) {
    String text = text(name);
    if (text == null || text.equalsIgnoreCase("false")) {
      return false;
    }
    if (text.equalsIgnoreCase("true")) {
      return true;
    }
    throw new IllegalArgumentException(name + " is " + text + ", not true or false");
  }

  /** A number in a range, or another one if it is not given. */
  public int integer(String name, int least, int most, int otherwise) {
    String text = text(name);
    if (text == null) {
      return otherwise;
    }
    long number = number(name, otherwise);
    if (number < least || number > most) {
      throw new IllegalArgumentException(
          name + " is " + number + ", not in " + least + " to " + most);
    }
    return (int) number;
  }

  /** A number, or another one if it is not given. */
  public long number(String name, long otherwise) {
    String text = text(name);
    try {
      return text == null ? otherwise : Long.parseLong(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is " + text + ", not a whole number", e);
    }
  }

  /** A constant, which users write in lower case with hyphens. */
  public <E extends Enum<E>> E choice(String name, Class<E> type, E otherwise) {
    String text = text(name);
    if (text == null) {
      return otherwise;
    }
    List<String> names = new ArrayList<>();
    for (E value : type.getEnumConstants()) {
      String written = value.name().toLowerCase(Locale.ROOT).replace('_', '-');
      if (written.equals(text.toLowerCase(Locale.ROOT))) {
        return value;
      }
      names.add(written);
    }
    throw new IllegalArgumentException(
        name + " is " + text + ", not one of " + String.join(", ", names));
  }

  /**
   * A list of different column names, separated by commas and blanks around them; empty if it is
   * not given.
   */
  public List<String> names(String name) {
    String text = text(name);
    if (text == null) {
      return List.of();
    }
    List<String> names = parsed(name, text, NameList::parse).stream().map(String::strip).toList();
    if (Set.copyOf(names).size() < names.size()) {
      throw new IllegalArgumentException(name + " names a column twice: " + text);
    }
    return names;
  }

  private static <T> T parsed(String name, String text, Function<String, T> how) {
    try {
      return how.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + " " + text + " " + e.getMessage(), e);
    }
  }
}
