package tech.bsdb.trino;

import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.connector.ConnectorTableHandle;
import io.trino.spi.predicate.TupleDomain;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A version of a table, and what a query wants of it. Immutable; travels to the workers.
 *
 * @param name the name of the table
 * @param location where the database is: of a store, its version
 * @param version the name of the version; null if the table is not a store
 * @param id the id of the database
 * @param records the number of keys
 * @param approximate whether the keys are not stored
 * @param ordered whether the order of the keys is stored
 * @param key the column of the keys
 * @param keyColumns the columns that keys are made of, in order; empty if unknown
 * @param keyJoin the text between them
 * @param wanted what the query says about the columns of keys
 * @param limit the most rows that are wanted
 */
public record BsdbTable(
    String name,
    String location,
    @Nullable String version,
    String id,
    long records,
    boolean approximate,
    boolean ordered,
    BsdbColumn key,
    List<BsdbColumn> keyColumns,
    String keyJoin,
    TupleDomain<ColumnHandle> wanted,
    OptionalLong limit)
    implements ConnectorTableHandle {
  /** Copies the list. */
  public BsdbTable {
    keyColumns = List.copyOf(keyColumns);
  }

  BsdbTable withWanted(TupleDomain<ColumnHandle> wanted) {
    return new BsdbTable(
        name,
        location,
        version,
        id,
        records,
        approximate,
        ordered,
        key,
        keyColumns,
        keyJoin,
        wanted,
        limit);
  }

  BsdbTable withLimit(long most) {
    return new BsdbTable(
        name,
        location,
        version,
        id,
        records,
        approximate,
        ordered,
        key,
        keyColumns,
        keyJoin,
        wanted,
        OptionalLong.of(most));
  }

  /** What it is, for messages. */
  String describe() {
    return version == null ? name : name + " version " + version;
  }

  /** What is read of it, for plans. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder(describe());
    KeyFinder finder = new KeyFinder(this);
    List<byte[]> keys = finder.keys(wanted);
    if (keys != null) {
      text.append(" lookup of ").append(keys.size()).append(keys.size() == 1 ? " key" : " keys");
    } else if (ordered && finder.range(wanted) != null) {
      text.append(" range of keys");
    } else {
      text.append(" scan");
    }
    if (!wanted.isAll() && !wanted.isNone()) {
      text.append(
          wanted.getDomains().orElseThrow().keySet().stream()
              .map(column -> ((BsdbColumn) column).name())
              .sorted()
              .collect(Collectors.joining(", ", " by ", "")));
    }
    limit.ifPresent(most -> text.append(" limit ").append(most));
    return text.toString();
  }
}
