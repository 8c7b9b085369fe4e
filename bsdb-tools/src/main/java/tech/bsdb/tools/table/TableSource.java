package tech.bsdb.tools.table;

import java.io.IOException;
import java.util.ServiceLoader;
import tech.bsdb.tools.input.InputException;

/**
 * Opens the tables of one format. A {@link ServiceLoader} finds it, so that formats with many
 * libraries live in a module of their own; the class itself uses none of them until it opens a
 * table.
 */
public interface TableSource {
  /** Returns the name of the format, as in {@code --format}. */
  String format();

  /**
   * Opens the inputs of a request as one table.
   *
   * @throws InputException if one of them is missing, cannot be read, or is not of the format; the
   *     message names it
   */
  Table open(TableRequest request) throws IOException;

  /**
   * Finds the source of a format.
   *
   * @throws InputException if its jar is not on the class path
   */
  static TableSource of(String format) throws InputException {
    for (TableSource source : ServiceLoader.load(TableSource.class)) {
      if (source.format().equals(format)) {
        return source;
      }
    }
    throw new InputException(
        ("--format %s needs bsdb-lake.jar and its libraries, which are not on the class path: run"
                + " bin/bsdb, or name the jars in lib/lake: java -cp"
                + " 'lib/bsdb.jar:lib/hadoop/*:lib/lake/*' tech.bsdb.tools.Main COMMAND ...")
            .formatted(format));
  }
}
