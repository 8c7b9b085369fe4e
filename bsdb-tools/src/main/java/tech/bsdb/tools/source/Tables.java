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
 * Caches which directories are tables, so that each is listed once.
 *
 * @param <P> the path type of a file system
 */
abstract class Tables<P> {
  private final Map<P, Optional<TableFormat>> formats = new HashMap<>();
  private final Set<P> good = new HashSet<>();

  /** Returns a listing of a directory. */
  abstract TableFormat.Listing listing(P directory);

  /** Returns the parent directory, or null. */
  abstract @Nullable P parent(P directory);

  /** Returns the format of the table in a directory, or null. */
  final @Nullable TableFormat format(P directory) throws IOException {
    Optional<TableFormat> known = formats.get(directory);
    return known == null ? inspect(directory, listing(directory)) : known.orElse(null);
  }

  /** Inspects a directory and caches the result. */
  final @Nullable TableFormat inspect(P directory, TableFormat.Listing listing) throws IOException {
    TableFormat format = TableFormat.of(listing);
    formats.put(directory, Optional.ofNullable(format));
    return format;
  }

  /**
   * Checks that a directory is not in a table.
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

  /** Whether a directory holds a table's log and no rows, although it is not hidden. */
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
