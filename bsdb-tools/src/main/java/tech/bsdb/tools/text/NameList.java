package tech.bsdb.tools.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Names of columns as people write several in one text: with commas between them. Within a name,
 * {@code \,} is a comma and {@code \\} a backslash; any other backslash is a mistake.
 */
public final class NameList {
  private NameList() {}

  /**
   * The names, in their order.
   *
   * @throws IllegalArgumentException if a name is empty, or a backslash stands before anything else
   */
  public static List<String> parse(String text) {
    return parse(text, true);
  }

  /**
   * One name, in which commas may stand as they are.
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
