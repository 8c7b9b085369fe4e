package tech.bsdb.tools.where;

import java.util.List;
import java.util.function.Consumer;

/**
 * A condition on rows. Immutable.
 *
 * <p>There is no node for NOT: SQL's logic of three values allows negations to be moved down to the
 * comparisons, whose opposites are comparisons again. What is left is monotone, so a null may count
 * as false everywhere, and a part that cannot be decided may count as true wherever it is enough to
 * find out which rows <em>may</em> match.
 */
public sealed interface Condition {
  /** Returns the condition that is true where this one is false, and null where this one is. */
  Condition negated();

  /** Passes on each place where a column is named. */
  void forEachColumn(Consumer<ColumnName> visitor);

  /** How a value is compared with a constant. */
  enum Comparator {
    EQUAL("="),
    NOT_EQUAL("<>"),
    LESS("<"),
    AT_MOST("<="),
    GREATER(">"),
    AT_LEAST(">=");

    private final String symbol;

    Comparator(String symbol) {
      this.symbol = symbol;
    }

    /** Returns the comparison that is true where this one is false. */
    public Comparator negated() {
      return switch (this) {
        case EQUAL -> NOT_EQUAL;
        case NOT_EQUAL -> EQUAL;
        case LESS -> AT_LEAST;
        case AT_MOST -> GREATER;
        case GREATER -> AT_MOST;
        case AT_LEAST -> LESS;
      };
    }

    /** Returns the comparison of the same values in the other order. */
    public Comparator swapped() {
      return switch (this) {
        case LESS -> GREATER;
        case AT_MOST -> AT_LEAST;
        case GREATER -> LESS;
        case AT_LEAST -> AT_MOST;
        default -> this;
      };
    }

    /** Whether a value that compares to the constant like a number to zero fulfills it. */
    boolean accepts(int compared) {
      return switch (this) {
        case EQUAL -> compared == 0;
        case NOT_EQUAL -> compared != 0;
        case LESS -> compared < 0;
        case AT_MOST -> compared <= 0;
        case GREATER -> compared > 0;
        case AT_LEAST -> compared >= 0;
      };
    }

    @Override
    public String toString() {
      return symbol;
    }
  }

  /** TRUE or FALSE. */
  record Constant(boolean value) implements Condition {
    @Override
    public Condition negated() {
      return new Constant(!value);
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {}
  }

  /** Conditions all of which must be true. */
  record And(List<Condition> parts) implements Condition {
    /** Copies the list. */
    public And {
      parts = List.copyOf(parts);
    }

    @Override
    public Condition negated() {
      return new Or(parts.stream().map(Condition::negated).toList());
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      parts.forEach(part -> part.forEachColumn(visitor));
    }
  }

  /** Conditions one of which must be true. */
  record Or(List<Condition> parts) implements Condition {
    /** Copies the list. */
    public Or {
      parts = List.copyOf(parts);
    }

    @Override
    public Condition negated() {
      return new And(parts.stream().map(Condition::negated).toList());
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      parts.forEach(part -> part.forEachColumn(visitor));
    }
  }

  /** Whether a value compares to a constant. */
  record Compare(ColumnName column, Comparator comparator, Literal literal) implements Condition {
    @Override
    public Condition negated() {
      return new Compare(column, comparator.negated(), literal);
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      visitor.accept(column);
    }
  }

  /** Whether a value is, or is not, one of some constants. */
  record In(ColumnName column, List<Literal> literals, boolean not) implements Condition {
    /** Copies the list. */
    public In {
      literals = List.copyOf(literals);
    }

    @Override
    public Condition negated() {
      return new In(column, literals, !not);
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      visitor.accept(column);
    }
  }

  /** Whether a value is, or is not, null. */
  record IsNull(ColumnName column, boolean not) implements Condition {
    @Override
    public Condition negated() {
      return new IsNull(column, !not);
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      visitor.accept(column);
    }
  }

  /** Whether a text has, or has not, a pattern. */
  record Like(ColumnName column, LikePattern pattern, boolean not) implements Condition {
    @Override
    public Condition negated() {
      return new Like(column, pattern, !not);
    }

    @Override
    public void forEachColumn(Consumer<ColumnName> visitor) {
      visitor.accept(column);
    }
  }
}
