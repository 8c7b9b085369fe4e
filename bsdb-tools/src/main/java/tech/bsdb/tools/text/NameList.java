package tech.bsdb.tools.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Parses comma-separated column names. Within a name, {@code \,} is a comma and {@code \\} a
 * backslash; any other backslash is an error.
 */
public final class NameList {
  private NameList() {}

  /**
   * The names, in order.
   *
   * @throws IllegalArgumentException if a name is empty, or a backslash precedes anything else
   */
  public static List<String> parse(String text) {
    return parse(text, true);
  }

  /**
   * A single name, in which commas need no backslash.
   *
   * @throws IllegalArgumentException as {@link #parse}
   */
  public static String one(String text) {
    return parse(text, false).get(0);
  }

  private static List<String> parse(String text, boolean several) {
    List<String> names = new ArrayList<>();
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++;
        if (i == text.length() || (text.charAt(i) != ',' && text.charAt(i) != '\\')) {
          throw new IllegalArgumentException(
              "has a backslash before neither a comma nor a backslash (in a name, \\, is a comma"
                  + " and \\\\ a backslash)");
        }
        name.append(text.charAt(i));
      } else if (c == ',' && several) {
        add(name, names);
      } else {
        name.append(c);
      }
    }
    add(name, names);
    return names;
  }

  private static void add(StringBuilder name, List<String> names) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("has an empty name");
    }
    names.add(name.toString());
    name.setLength(0);
  }
}
