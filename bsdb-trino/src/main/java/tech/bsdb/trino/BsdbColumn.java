package tech.bsdb.trino;

import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.type.Type;

/**
 * A column. Immutable; travels to the workers.
 *
 * @param name its name in Trino, in lower case
 * @param type its type in Trino
 * @param origin what its values are
 * @param field its name in the rows, if they are fields of them; otherwise empty
 */
public record BsdbColumn(String name, Type type, Origin origin, String field)
    implements ColumnHandle {
  /** What the values of a column are. */
  public enum Origin {
    /** The keys. */
    KEY,
    /** The values, of a database without rows. */
    VALUE,
    /** Fields of the rows. */
    FIELD
  }

  @Override
  public String toString() {
    return name + ":" + type.getDisplayName();
  }
}
