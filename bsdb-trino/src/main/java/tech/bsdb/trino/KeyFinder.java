package tech.bsdb.trino;

import io.airlift.slice.Slice;
import io.trino.spi.connector.ColumnHandle;
import io.trino.spi.predicate.Domain;
import io.trino.spi.predicate.Range;
import io.trino.spi.predicate.TupleDomain;
import io.trino.spi.predicate.ValueSet;
import io.trino.spi.type.VarbinaryType;
import io.trino.spi.type.VarcharType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/** Finds the keys that conditions on the columns of a table allow. Not thread-safe. */
final class KeyFinder {
  /** With more keys, a scan is no slower. */
  static final int MOST_KEYS = 1_000_000;

  /** Ranges of more whole numbers or dates are scanned. */
  private static final int MOST_IN_RANGES = 10_000;

  /** No key is longer. */
  private static final int LONGEST_KEY = 65_535;

  private final BsdbTable table;
  private final KeyPart whole;
  private final List<KeyPart> parts;
  private final RowBuffer key = new RowBuffer();

  KeyFinder(BsdbTable table) {
    this.table = table;
    this.whole = KeyPart.of(table.key().type());
    this.parts = table.keyColumns().stream().map(column -> KeyPart.of(column.type())).toList();
  }

  /** Whether conditions on a column tell keys. */
  boolean tells(ColumnHandle column) {
    return column.equals(table.key()) || table.keyColumns().contains(column);
  }

  /**
   * The keys that rows may have, each once; null if they cannot be told, or are more than a scan is
   * worth.
   */
  @Nullable List<byte[]> keys(TupleDomain<ColumnHandle> wanted) {
    if (wanted.isNone()) {
      return List.of();
    }
    Set<ByteBuffer> keys = among(wanted, List.of(table.key()), List.of(whole));
    if (keys == null && !parts.isEmpty()) {
      keys = among(wanted, table.keyColumns(), parts);
    }
    return keys == null ? null : keys.stream().map(ByteBuffer::array).toList();
  }

  /** The keys that are made of the values of columns. */
  private @Nullable Set<ByteBuffer> among(
      TupleDomain<ColumnHandle> wanted, List<BsdbColumn> columns, List<KeyPart> texts) {
    Set<ByteBuffer> heads = Set.of(ByteBuffer.allocate(0));
    for (int i = 0; i < columns.size(); i++) {
      BsdbColumn column = columns.get(i);
      Collection<Object> values = values(wanted.getDomain(column, column.type()).getValues());
      if (values == null) {
        return null;
      }
      if ((long) heads.size() * values.size() > MOST_KEYS) {
        return null;
      }
      Set<ByteBuffer> keys = new LinkedHashSet<>();
      for (ByteBuffer head : heads) {
        for (Object value : values) {
          key.reset();
          key.put(head.duplicate());
          if (i > 0) {
            key.putText(table.keyJoin());
          }
          if (!write(texts.get(i), value)) {
            return null;
          }
          if (key.length() <= LONGEST_KEY) {
            keys.add(ByteBuffer.wrap(key.copy()));
          }
        }
      }
      heads = keys;
    }
    return heads;
  }

  /** All values of a set; null if there are many more, or they cannot be told. */
  private static @Nullable Collection<Object> values(ValueSet set) {
    if (set.isNone()) {
      return List.of();
    }
    return set.isDiscreteSet()
        ? set.getDiscreteSet()
        : set.tryExpandRanges(MOST_IN_RANGES).orElse(null); // 1 and 2 are the range from 1 to 2
  }

  private boolean write(KeyPart part, Object value) {
    try {
      part.write(value, key);
      return true;
    } catch (BadRowException noText) {
      return false;
    }
  }

  /**
   * The key that has some parts; null if it is none that can be stored.
   *
   * @param values the values of {@code columns}, which are all that keys are made of
   */
  byte @Nullable [] key(List<BsdbColumn> columns, List<Object> values) {
    key.reset();
    List<BsdbColumn> order =
        columns.contains(table.key()) ? List.of(table.key()) : table.keyColumns();
    for (int i = 0; i < order.size(); i++) {
      if (i > 0) {
        key.putText(table.keyJoin());
      }
      KeyPart part = columns.contains(table.key()) ? whole : parts.get(i);
      if (!write(part, values.get(columns.indexOf(order.get(i))))) {
        return null;
      }
    }
    return key.length() <= LONGEST_KEY ? key.copy() : null;
  }

  /**
   * The parts of a key that is made of key columns. Values that differ have other parts, even if
   * these make the same key, as {@code a/b} and {@code c} do, and {@code a} and {@code b/c}.
   *
   * @param values the values of {@code columns}, which are all that keys are made of
   */
  List<ByteBuffer> parts(List<BsdbColumn> columns, List<Object> values) throws BadRowException {
    List<ByteBuffer> made = new ArrayList<>();
    for (int i = 0; i < parts.size(); i++) {
      key.reset();
      parts.get(i).write(values.get(columns.indexOf(table.keyColumns().get(i))), key);
      made.add(ByteBuffer.wrap(key.copy()));
    }
    return made;
  }

  /**
   * The range that the keys of all rows are in; null if all keys may be in it. It is told only by a
   * column that holds the bytes of keys, whose order is that of the keys.
   */
  @Nullable KeyRange range(TupleDomain<ColumnHandle> wanted) {
    if (wanted.isNone()) {
      return null;
    }
    List<BsdbColumn> columns = new ArrayList<>(List.of(table.key()));
    if (table.keyColumns().size() == 1) {
      columns.add(table.keyColumns().get(0));
    }
    for (BsdbColumn column : columns) {
      boolean bytes =
          column.type() instanceof VarcharType || column.type() instanceof VarbinaryType;
      Domain domain = wanted.getDomain(column, column.type());
      if (bytes && !domain.getValues().isAll() && !domain.getValues().isNone()) {
        return range(domain.getValues().getRanges().getSpan());
      }
    }
    return null;
  }

  private static @Nullable KeyRange range(Range span) {
    KeyRange range = KeyRange.all();
    if (!span.isLowUnbounded()) {
      byte[] low = ((Slice) span.getLowBoundedValue()).getBytes();
      range = span.isLowInclusive() ? range.from(low) : range.after(low);
    }
    if (!span.isHighUnbounded()) {
      byte[] high = ((Slice) span.getHighBoundedValue()).getBytes();
      range = span.isHighInclusive() ? range.through(high) : range.to(high);
    }
    return span.isLowUnbounded() && span.isHighUnbounded() ? null : range;
  }
}
