package tech.bsdb.tools.source;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.input.InputException;

/**
 * Remembers which directories are tables, so that each is looked into once.
 *
 * @param <P> the paths of a file system
 */
abstract class Tables<P> {
  private final Map<P, Optional<TableFormat>> formats = new HashMap<>();
  private final Set<P> good = new HashSet<>();

  /** How to look into a directory. */
  abstract TableFormat.Look look(P directory);

  /** The directory above, or null. */
  abstract @Nullable P parent(P directory);

  /** Which table a directory is, or null. */
  final @Nullable TableFormat format(P directory) throws IOException {
    Optional<TableFormat> known = formats.get(directory);
    return known == null ? look(directory, look(directory)) : known.orElse(null);
  }

  /** Looks into a directory and remembers what it is. */
  final @Nullable TableFormat look(P directory, TableFormat.Look look) throws IOException {
    TableFormat format = TableFormat.of(look);
    formats.put(directory, Optional.ofNullable(format));
    return format;
  }

  /**
   * Sees that a directory is in no table.
   *
   * @throws InputException if it is one, or one above it is
   */
  final void check(P directory) throws IOException {
    if (good.contains(directory)) {
      return;
    }
    TableFormat format = format(directory);
    if (format != null) {
      throw format.refuse(directory.toString());
    }
    P parent = parent(directory);
    if (parent != null) {
      check(parent);
    }
    good.add(directory);
  }

  /** Whether a directory holds a table's log and no rows, though its name is like any other. */
  final boolean isLog(P directory, String name) throws IOException {
    for (TableFormat format : TableFormat.values()) {
      if (name.equals(format.visibleLog())) {
        P parent = parent(directory);
        return parent != null && format(parent) == format;
      }
    }
    return false;
  }
}
