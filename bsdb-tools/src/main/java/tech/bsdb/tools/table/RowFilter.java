package tech.bsdb.tools.table;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.where.Cells;
import tech.bsdb.tools.where.RowTest;
import tech.bsdb.tools.where.Verdict;

/**
 * Finds out whether the current row is wanted. Each value is read at most once, and only if the
 * verdict depends on it. Not thread-safe.
 */
public final class RowFilter implements Cells {
  private final RowTest test;
  private final List<? extends KeyPart> parts;
  private final RowProblem problem;
  private final Runnable skip;
  private final RowBuffer[] buffers;
  private final @Nullable RowBuffer[] known;

  /**
   * Creates a filter.
   *
   * @param parts the columns that the test is about; they write values in Avro's encoding
   * @param problem receives the values that they cannot write, and is used for nothing else
   * @param skip advances from a row that is not wanted to the next one; from others, all parts are
   *     told to advance
   */
  public RowFilter(RowTest test, List<? extends KeyPart> parts, RowProblem problem, Runnable skip) {
    this.test = test;
    this.parts = parts;
    this.problem = problem;
    this.skip = skip;
    this.buffers = new RowBuffer[parts.size()];
    Arrays.setAll(buffers, column -> new RowBuffer());
    this.known = new @Nullable RowBuffer[parts.size()];
  }

  /** Tests the current row. If the verdict is not certain, {@link #problem} says why. */
  Verdict test() {
    Arrays.fill(known, null);
    problem.clear();
    return test.of(this);
  }

  @Override
  public RowBuffer of(int column) {
    RowBuffer value = known[column];
    if (value == null) {
      value = read(column);
      known[column] = value;
    }
    return value;
  }

  private RowBuffer read(int column) {
    RowBuffer buffer = buffers[column];
    buffer.reset();
    problem.keep();
    problem.clear();
    boolean present = parts.get(column).write(buffer);
    if (problem.reason() == null) {
      problem.restore();
      return present ? buffer : NULL;
    }
    return UNKNOWN;
  }

  /** Returns why a value is not known. */
  RowProblem problem() {
    return problem;
  }

  /** Advances past a row that is not wanted. */
  void skipRow() {
    skip.run();
  }

  /** Advances past a row that is wanted. */
  void next() {
    parts.forEach(KeyPart::next);
  }
}
