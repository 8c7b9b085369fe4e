package tech.bsdb.spark.write;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.NearestName;
import tech.bsdb.tools.text.NameList;

/** Reads options as users write them. Immutable. */
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
          "collation");

  private final CaseInsensitiveStringMap given;
  private final List<String> names;

  /**
   * Checks the names. Settings of Hadoop, which have dots in theirs, are left to it.
   *
   * @param names those of the options that there are
   * @param others further names that are allowed
   * @throws IllegalArgumentException if there is no such option
   */
  OptionValues(CaseInsensitiveStringMap given, List<String> names, Collection<String> others) {
    this.given = given;
    this.names = names;
    for (String name : given.keySet()) {
      if (!name.contains(".")
          && !OF_SPARK.contains(name)
          && names.stream().noneMatch(name::equalsIgnoreCase)
          && others.stream().noneMatch(name::equalsIgnoreCase)) {
        throw new IllegalArgumentException(
            "unknown option "
                + name
                + NearestName.to(name, names).map(near -> ", did you mean " + near + "?").orElse("")
                + "; the options are "
                + String.join(", ", names));
      }
    }
  }

  @Nullable String text(String name) {
    if (!names.contains(name)) {
      throw new IllegalStateException(name);
    }
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
}
