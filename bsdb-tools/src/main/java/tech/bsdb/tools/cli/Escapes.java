package tech.bsdb.tools.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Escapes for characters that are hard to type in a shell: {@code \t} is a tab, {@code \xHH} the
 * character with that code, {@code \\} a backslash. Any other backslash is an error.
 */
public final class Escapes {
  private static final Pattern ESCAPE = Pattern.compile("\\\\(t|x[0-9A-Fa-f]{2}|\\\\|x?.?|)");

  private Escapes() {}

  /**
   * Replaces the escapes.
   *
   * @param option the option whose value this is
   * @throws UsageException if a backslash begins none of these escapes
   */
  public static String resolve(String option, String typed) throws UsageException {
    StringBuilder meant = new StringBuilder();
    Matcher escape = ESCAPE.matcher(typed);
    while (escape.find()) {
      String name = escape.group(1);
      escape.appendReplacement(meant, "");
      if (name.equals("t")) {
        meant.append('\t');
      } else if (name.equals("\\")) {
        meant.append('\\');
      } else if (name.length() == 3) {
        meant.append((char) Integer.parseInt(name.substring(1), 16));
      } else {
        throw new UsageException(
            ("%s takes \\t for a tab, \\xHH for the character with that code and \\\\ for a"
                    + " backslash, not \"%s\"")
                .formatted(option, typed));
      }
    }
    return escape.appendTail(meant).toString();
  }
}
