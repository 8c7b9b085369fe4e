package tech.bsdb.spark.write;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.text.NameList;

/** Reads options as users write them, and knows which there are. Not thread-safe. */
final class OptionValues {
  /** What Spark adds by itself, above all to the properties of tables. */
  private static final Set<String> OF_SPARK =
      Set.of(
          "provider",
          "location",
          "owner",
          "external",
          "is_managed_location",
          "comment",
          "collation",
          "keytype",
          "valuetype");

  private final CaseInsensitiveStringMap given;
  private final Set<String> known = new TreeSet<>();

  OptionValues(CaseInsensitiveStringMap given) {
    this.given = given;
  }

  @Nullable String text(String name) {
    known.add(name);
    return given.get(name);
  }

  boolean flag(String name) {
    String text = text(name);
    if (text == null || text.equalsIgnoreCase("false")) {
      return false;
    }
    if (text.equalsIgnoreCase("true")) {
      return true;
    }
    throw new IllegalArgumentException(name + " is " + text + ", not true or false");
  }

  int integer(String name, int least, int most, int otherwise) {
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

  long number(String name, long otherwise) {
    String text = text(name);
    try {
      return text == null ? otherwise : Long.parseLong(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is " + text + ", not a whole number", e);
    }
  }

  <E extends Enum<E>> E choice(String name, Class<E> type, E otherwise) {
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

  /** A list of different column names, separated by commas; empty if it is not given. */
  List<String> names(String name) {
    String text = text(name);
    if (text == null) {
      return List.of();
    }
    List<String> names = parsed(name, text, NameList::parse);
    if (Set.copyOf(names).size() < names.size()) {
      throw new IllegalArgumentException(name + " names a column twice: " + text);
    }
    return names;
  }

  <T> T parsed(String name, String text, Function<String, T> how) {
    try {
      return how.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(name + " " + text + " " + e.getMessage(), e);
    }
  }

  /**
   * Fails for an option that was given and that nobody asked for. Settings of Hadoop, which have
   * dots in their names, are none of this source.
   */
  void requireKnown() {
    Set<String> lower = new TreeSet<>();
    known.forEach(name -> lower.add(name.toLowerCase(Locale.ROOT)));
    for (Map.Entry<String, String> option : given.entrySet()) {
      String name = option.getKey();
      if (lower.contains(name) || name.contains(".") || OF_SPARK.contains(name)) {
        continue;
      }
      String near = NearestName.to(name, lower).orElse("");
      throw new IllegalArgumentException(
          "unknown option "
              + name
              + known.stream()
                  .filter(near::equalsIgnoreCase)
                  .map(meant -> ", did you mean " + meant + "?")
                  .findFirst()
                  .orElse("")
              + "; the options are "
              + String.join(", ", known));
    }
  }
}
