package tech.bsdb.tools.serve.dataset;

import java.util.regex.Pattern;

/** The rules for names of data sets: they are part of paths and labels, and no numbers. */
final class DataSetName {
  /** The rules, for messages. */
  static final String RULES =
      "a name has 1 to 64 letters, digits, hyphens, underscores and dots, begins with a letter or"
          + " digit, and is not a number";

  private static final Pattern VALID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Pattern NUMBER = Pattern.compile("[0-9]+");

  private DataSetName() {}

  static boolean isValid(String name) {
    return VALID.matcher(name).matches() && !NUMBER.matcher(name).matches();
  }
}
