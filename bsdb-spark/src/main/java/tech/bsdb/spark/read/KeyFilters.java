package tech.bsdb.spark.read;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.types.DataType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * The keys that the filters of a query allow: those of {@code column = value}, {@code column IN
 * (values)} and such joined with OR. Not thread-safe.
 */
final class KeyFilters {
  /** With more keys, a scan is no slower. */
  private static final int MOST_KEYS = 1_000_000;

  private final KeyColumns columns;
  private final Map<String, Set<ByteBuffer>> bound = new HashMap<>();
  private final Map<String, Predicate> used = new HashMap<>();

  KeyFilters(KeyColumns columns) {
    this.columns = columns;
  }

  /** The values that a predicate allows for a column, as keys or parts of them. */
  private record Allowed(String column, Set<ByteBuffer> keys) {}

  /** Takes a predicate that all rows must fulfil, if it tells anything about keys. */
  void offer(Predicate predicate) {
    Allowed allowed = allowed(predicate);
    if (allowed != null && !bound.containsKey(allowed.column)) {
      bound.put(allowed.column, allowed.keys);
      used.put(allowed.column, predicate);
    }
  }

  private @Nullable Allowed allowed(Predicate predicate) {
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case "=", "<=>" ->
          children[0] instanceof NamedReference
              ? among(children[0], List.of(children[1]))
              : among(children[1], List.of(children[0]));
      case "IN" -> among(children[0], List.of(children).subList(1, children.length));
      case "OR" -> either(children[0], children[1]);
      default -> null;
    };
  }

  private @Nullable Allowed either(Expression left, Expression right) {
    Allowed one = left instanceof Predicate predicate ? allowed(predicate) : null;
    Allowed other = right instanceof Predicate predicate ? allowed(predicate) : null;
    if (one == null || other == null || !one.column.equals(other.column)) {
      return null;
    }
    Set<ByteBuffer> keys = new LinkedHashSet<>(one.keys);
    keys.addAll(other.keys);
    return new Allowed(one.column, keys);
  }

  private @Nullable Allowed among(Expression column, List<Expression> values) {
    if (!(column instanceof NamedReference reference)) {
      return null;
    }
    String name = String.join(".", reference.fieldNames());
    DataType type = columns.type(name);
    if (type == null) {
      return null;
    }
    Set<ByteBuffer> keys = new LinkedHashSet<>();
    for (Expression each : values) {
      if (!(each instanceof Literal<?> literal)) {
        return null;
      }
      if (literal.value() == null) {
        continue; // equals nothing; keys are never made of nulls
      }
      if (!literal.dataType().equals(type)) {
        return null;
      }
      List<byte[]> own = columns.keys(name, literal.value());
      if (own == null) {
        return null;
      }
      own.forEach(key -> keys.add(ByteBuffer.wrap(key)));
    }
    return new Allowed(name, keys);
  }

  /** The predicates that {@link #keys} relies on. */
  Predicate[] used() {
    return keys() == null ? new Predicate[0] : used.values().toArray(new Predicate[0]);
  }

  /**
   * The only value that a column may have, as a key or a part of one; null if it may have others.
   */
  byte @Nullable [] onlyKey(String column) {
    Set<ByteBuffer> keys = bound.getOrDefault(column, Set.of());
    return keys.size() == 1 ? keys.iterator().next().array() : null;
  }

  /** The predicate that tells which values a column may have; null if none does. */
  @Nullable Predicate usedFor(String column) {
    return used.get(column);
  }

  /** The keys of all rows that pass the filters, and perhaps others; null if there may be more. */
  @Nullable List<byte[]> keys() {
    Set<ByteBuffer> keys = null;
    for (String name : columns.whole()) {
      keys = keys == null ? bound.get(name) : keys;
    }
    keys = keys == null ? product() : keys;
    return keys == null || keys.size() > MOST_KEYS
        ? null
        : keys.stream().map(ByteBuffer::array).toList();
  }

  /** The keys that consist of several columns, or one. */
  private @Nullable Set<ByteBuffer> product() {
    if (columns.joined().isEmpty()) {
      return null;
    }
    Set<ByteBuffer> keys = null;
    for (String name : columns.joined()) {
      Set<ByteBuffer> parts = bound.get(name);
      if (parts == null) {
        return null;
      }
      keys = keys == null ? parts : joined(keys, parts);
      if (keys == null) {
        return null;
      }
    }
    return keys;
  }

  private @Nullable Set<ByteBuffer> joined(Set<ByteBuffer> heads, Set<ByteBuffer> tails) {
    if ((long) heads.size() * tails.size() > MOST_KEYS) {
      return null;
    }
    byte[] separator = columns.separator();
    Set<ByteBuffer> keys = new LinkedHashSet<>();
    for (ByteBuffer head : heads) {
      for (ByteBuffer tail : tails) {
        RowBuffer key = new RowBuffer();
        key.put(head);
        key.put(separator);
        key.put(tail);
        keys.add(ByteBuffer.wrap(key.copy()));
      }
    }
    return keys;
  }
}
