package tech.bsdb.tools.where;

import java.util.List;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.where.Condition.Comparator;

/**
 * A condition on columns of known types, which have numbers. Immutable.
 *
 * <p>Because there is no NOT, the verdict of a part that depends on an unknown value can only raise
 * that of the whole.
 */
public sealed interface RowTest {
  /** Finds out whether the condition is true. */
  Verdict of(Cells cells);

  /** Always the same. */
  record Always(Verdict verdict) implements RowTest {
    @Override
    public Verdict of(Cells cells) {
      return verdict;
    }
  }

  /** All tests. */
  record AllOf(List<RowTest> tests) implements RowTest {
    /** Copies the list. */
    public AllOf {
      tests = List.copyOf(tests);
    }

    @Override
    public Verdict of(Cells cells) {
      Verdict least = Verdict.YES;
      for (int i = 0; i < tests.size() && least != Verdict.NO; i++) {
        Verdict verdict = tests.get(i).of(cells);
        least = verdict.compareTo(least) < 0 ? verdict : least;
      }
      return least;
    }
  }

  /** One of some tests. */
  record AnyOf(List<RowTest> tests) implements RowTest {
    /** Copies the list. */
    public AnyOf {
      tests = List.copyOf(tests);
    }

    @Override
    public Verdict of(Cells cells) {
      Verdict most = Verdict.NO;
      for (int i = 0; i < tests.size() && most != Verdict.YES; i++) {
        Verdict verdict = tests.get(i).of(cells);
        most = verdict.compareTo(most) > 0 ? verdict : most;
      }
      return most;
    }
  }

  /** Compares a value with a constant. */
  record Comparison(int column, Comparator comparator, Operand operand) implements RowTest {
    @Override
    public Verdict of(Cells cells) {
      RowBuffer value = cells.of(column);
      if (value == Cells.NULL || value == Cells.UNKNOWN) {
        return value == Cells.NULL ? Verdict.NO : Verdict.MAYBE;
      }
      return Verdict.of(comparator.accepts(operand.compare(value)));
    }
  }

  /**
   * Finds a value among constants.
   *
   * @param operands in ascending order
   */
  record Membership(int column, List<Operand> operands, boolean not) implements RowTest {
    /** Copies the list. */
    public Membership {
      operands = List.copyOf(operands);
    }

    @Override
    public Verdict of(Cells cells) {
      RowBuffer value = cells.of(column);
      if (value == Cells.NULL || value == Cells.UNKNOWN) {
        return value == Cells.NULL ? Verdict.NO : Verdict.MAYBE;
      }
      int low = 0;
      int high = operands.size();
      while (low < high) {
        int middle = (low + high) >>> 1;
        int compared = operands.get(middle).compare(value);
        if (compared == 0) {
          return Verdict.of(!not);
        }
        low = compared > 0 ? middle + 1 : low;
        high = compared < 0 ? middle : high;
      }
      return Verdict.of(not);
    }
  }

  /** Finds out whether a value is null. */
  record NullTest(int column, boolean not) implements RowTest {
    @Override
    public Verdict of(Cells cells) {
      RowBuffer value = cells.of(column);
      return value == Cells.UNKNOWN ? Verdict.MAYBE : Verdict.of((value == Cells.NULL) != not);
    }
  }

  /** Compares text with a pattern. */
  record TextMatch(int column, LikePattern pattern, boolean not) implements RowTest {
    @Override
    public Verdict of(Cells cells) {
      RowBuffer value = cells.of(column);
      if (value == Cells.NULL || value == Cells.UNKNOWN) {
        return value == Cells.NULL ? Verdict.NO : Verdict.MAYBE;
      }
      int from = Operand.Encoded.start(value);
      return Verdict.of(pattern.matches(value.bytes(), from, value.length()) != not);
    }
  }
}
