package tech.bsdb.tools.make;

import java.util.Locale;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;

/**
 * {@code bsdb unicode-names}: prints a real data set that every JDK contains, one line such as
 * {@code U+0041 LATIN CAPITAL LETTER A} for each assigned code point in the running Java's version
 * of Unicode, except surrogates and private use.
 */
public final class UnicodeNamesCommand extends Command {
  /** For the service loader. */
  public UnicodeNamesCommand() {
    super("unicode-names", "print the names of all Unicode characters");
  }

  @Override
  public boolean hidden() {
    return true;
  }

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      int type = Character.getType(codePoint);
      if (type != Character.UNASSIGNED
          && type != Character.PRIVATE_USE
          && type != Character.SURROGATE) {
        console.print(
            String.format(Locale.ROOT, "U+%04X %s", codePoint, Character.getName(codePoint)));
      }
    }
    return OK;
  }
}
