package tech.bsdb.lake.arrow;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.table.TableFile.BadValueException;

/** The values of a dictionary: a batch, and those that were added to it. Immutable. */
final class ArrowDictionary {
  /** A dictionary without values. */
  static final ArrowDictionary EMPTY = new ArrowDictionary(List.of());

  private final List<ArrowVector> vectors;

  /** Creates a dictionary of a batch. */
  ArrowDictionary(ArrowVector values) {
    this(List.of(values));
  }

  private ArrowDictionary(List<ArrowVector> vectors) {
    this.vectors = vectors;
  }

  /** Returns a dictionary with more values at its end. */
  ArrowDictionary with(ArrowVector more) {
    List<ArrowVector> all = new ArrayList<>(vectors);
    all.add(more);
    return new ArrowDictionary(all);
  }

  /** Returns the value of an index. */
  @Nullable Object value(long index) throws BadValueException {
    long left = index;
    for (ArrowVector values : vectors) {
      if (left >= 0 && left < values.length) {
        return values.value((int) left);
      }
      left -= values.length;
    }
    throw new IllegalStateException("a dictionary has no value " + index);
  }
}
