package tech.bsdb.spark.read;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.KeyRange;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * The range of keys that the filters of a query allow: those of {@code column >= value} and the
 * other comparisons, and of {@code column LIKE 'start%'}. Only text and binary columns are in the
 * order of the keys; numbers are not.
 *
 * <p>The range answers filters on columns that hold the keys themselves. Of the columns that the
 * option {@code key} names, Spark evaluates the filters again, as it does for lookups: rows whose
 * keys were made of something else must not appear because their keys are in the range.
 */
final class RangeFilters {
  private static final int MOST_SHOWN = 200;

  private final KeyColumns columns;

  /** What the keys start with because the first of their columns have one value each. */
  private final byte[] head;

  /** The column after those; null if there is none, or it is in another order than keys. */
  private final @Nullable String part;

  /** Whether keys end with that column. */
  private final boolean last;

  private final List<Predicate> used = new ArrayList<>();
  private final List<Predicate> unanswered = new ArrayList<>();
  private KeyInterval interval;
  private boolean relies;

  /** What a predicate says about a column whose value is compared with another one. */
  private record Comparison(String column, String operator, byte[] bytes) {}

  private RangeFilters(KeyColumns columns, KeyFilters lookups) {
    this.columns = columns;
    List<String> joined = columns.joined();
    byte[] separator = columns.separator();
    RowBuffer start = new RowBuffer();
    int count = 0;
    while (count < joined.size()) {
      byte[] only = lookups.onlyKey(joined.get(count));
      Predicate tells = lookups.usedFor(joined.get(count));
      if (only == null || tells == null) {
        break;
      }
      start.put(only);
      start.put(separator);
      used.add(tells);
      relies = true;
      count++;
    }
    head = start.copy();
    part =
        count < joined.size() && columns.hasOrderOfBytes(joined.get(count))
            ? joined.get(count)
            : null;
    last = count == joined.size() - 1;
    interval = KeyInterval.ALL.startingWith(head);
  }

  /**
   * Finds the range that all rows of a query are in.
   *
   * @param lookups the keys that the same predicates allow
   * @param predicates what all rows must fulfil
   * @return null if all keys may be in it
   */
  static @Nullable RangeFilters of(KeyColumns columns, KeyFilters lookups, Predicate[] predicates) {
    RangeFilters filters = new RangeFilters(columns, lookups);
    for (Predicate predicate : predicates) {
      filters.offer(predicate);
    }
    return filters.used.isEmpty() ? null : filters;
  }

  private void offer(Predicate predicate) {
    if (isKeyNotNull(predicate)) {
      return; // no key is null
    }
    Comparison comparison = comparison(predicate);
    boolean answered = false;
    if (comparison != null) {
      if (comparison.column.equals(part)) {
        narrowPart(predicate, comparison);
      } else if (columns.whole().contains(comparison.column)) {
        narrow(predicate, comparison.operator, comparison.bytes);
        answered = true;
      }
    }
    if (!answered) {
      unanswered.add(predicate);
    }
  }

  private boolean isKeyNotNull(Predicate predicate) {
    return predicate.name().equals("IS_NOT_NULL")
        && predicate.children()[0] instanceof NamedReference reference
        && columns.whole().contains(name(reference));
  }

  private static String name(NamedReference reference) {
    return String.join(".", reference.fieldNames());
  }

  private @Nullable Comparison comparison(Predicate predicate) {
    Expression[] children = predicate.children();
    return switch (predicate.name()) {
      case ">", ">=", "<", "<=" ->
          children[0] instanceof NamedReference
              ? compared(children[0], predicate.name(), children[1])
              : compared(children[1], reversed(predicate.name()), children[0]);
      case "STARTS_WITH" -> compared(children[0], predicate.name(), children[1]);
      default -> null;
    };
  }

  private static String reversed(String operator) {
    return (operator.startsWith("<") ? ">" : "<") + operator.substring(1);
  }

  private @Nullable Comparison compared(Expression column, String operator, Expression value) {
    if (!(column instanceof NamedReference reference)
        || !(value instanceof Literal<?> literal)
        || literal.value() == null) {
      return null;
    }
    String name = name(reference);
    if (!columns.hasOrderOfBytes(name) || !literal.dataType().equals(columns.type(name))) {
      return null;
    }
    List<byte[]> keys = columns.keys(name, literal.value());
    return keys != null && keys.size() == 1 ? new Comparison(name, operator, keys.get(0)) : null;
  }

  /** Takes a predicate on the column after the head. */
  private void narrowPart(Predicate predicate, Comparison comparison) {
    String operator = comparison.operator;
    if (!last && operator.startsWith("<")) {
      return; // the least key that is too great depends on what follows the value
    }
    byte[] bytes = Arrays.copyOf(head, head.length + comparison.bytes.length);
    System.arraycopy(comparison.bytes, 0, bytes, head.length, comparison.bytes.length);
    narrow(predicate, last || !operator.equals(">") ? operator : ">=", bytes);
    relies = true;
  }

  private void narrow(Predicate predicate, String operator, byte[] key) {
    interval =
        switch (operator) {
          case ">" -> interval.notBefore(KeyInterval.next(key));
          case ">=" -> interval.notBefore(key);
          case "<" -> interval.before(key);
          case "<=" -> interval.before(KeyInterval.next(key));
          default -> interval.startingWith(key);
        };
    used.add(predicate);
  }

  /** The range. */
  KeyInterval interval() {
    return interval;
  }

  /** The predicates that the range relies on. */
  Predicate[] used() {
    return used.toArray(new Predicate[0]);
  }

  /** Whether the range is only right if keys were made of the columns of the option key. */
  boolean reliesOnOption() {
    return relies;
  }

  /** The predicates that some rows in the range may not fulfil. */
  Predicate[] unanswered() {
    return unanswered.toArray(new Predicate[0]);
  }

  /** The predicates that the range relies on, for plans. */
  String describe() {
    return used.stream()
        .map(RangeFilters::text)
        .map(text -> text.length() <= MOST_SHOWN ? text : text.substring(0, MOST_SHOWN) + "...")
        .collect(Collectors.joining(" AND "));
  }

  /** A predicate as Spark 4 writes it; Spark 3.5 does not show the bytes of binary values. */
  private static String text(Predicate predicate) {
    String text = predicate.toString().replace(" ESCAPE '\\'", "");
    for (Expression child : predicate.children()) {
      if (child instanceof Literal<?> literal && literal.value() instanceof byte[] bytes) {
        String hex = "0x" + HexFormat.of().withUpperCase().formatHex(bytes);
        text = text.replace(literal.toString(), hex);
      }
    }
    return text;
  }

  /**
   * A range of keys on its way to the executors. Immutable.
   *
   * @param prefix what all its keys start with
   * @param from the first key that can be in it
   * @param to the first key that is no longer in it; null if there is none
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record KeyInterval(byte[] prefix, byte[] from, byte @Nullable [] to) implements Serializable {
    private static final byte[] LEAST = {};

    /** All keys. */
    static final KeyInterval ALL = new KeyInterval(LEAST, LEAST, null);

    /** Those of its keys that start with some bytes. */
    KeyInterval startingWith(byte[] start) {
      if (isStart(prefix, start)) {
        return new KeyInterval(start, from, to);
      }
      return isStart(start, prefix) ? this : before(LEAST); // no key starts with both
    }

    private static boolean isStart(byte[] start, byte[] key) {
      return start.length <= key.length
          && Arrays.equals(start, 0, start.length, key, 0, start.length);
    }

    /** Those of its keys that are not less than a key. */
    KeyInterval notBefore(byte[] key) {
      return Arrays.compareUnsigned(from, key) < 0 ? new KeyInterval(prefix, key, to) : this;
    }

    /** Those of its keys that are less than a key. */
    KeyInterval before(byte[] key) {
      return to == null || Arrays.compareUnsigned(to, key) > 0
          ? new KeyInterval(prefix, from, key)
          : this;
    }

    /** The least key that is greater than another. */
    static byte[] next(byte[] key) {
      return Arrays.copyOf(key, key.length + 1);
    }

    /** The range as databases know it. */
    KeyRange range() {
      KeyRange range = KeyRange.prefix(prefix).from(from);
      return to == null ? range : range.to(to);
    }
  }
}
