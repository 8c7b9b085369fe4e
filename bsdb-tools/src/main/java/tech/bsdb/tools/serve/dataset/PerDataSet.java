package tech.bsdb.tools.serve.dataset;

import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Something made for each data set at its first use, and dropped with it. Thread-safe. */
public final class PerDataSet<T> {
  private final DataSets sets;
  private final Function<DataSet, T> make;
  private final ConcurrentHashMap<DataSet, T> made = new ConcurrentHashMap<>();

  /** Starts with nothing made. */
  public PerDataSet(DataSets sets, Function<DataSet, T> make) {
    this.sets = sets;
    this.make = make;
  }

  /** Returns what belongs to a data set. */
  public T of(DataSet set) {
    @Nullable T known = made.get(set);
    if (known != null) {
      return known;
    }
    made.keySet().retainAll(sets.all());
    return made.computeIfAbsent(set, make);
  }
}
