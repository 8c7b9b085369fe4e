package tech.bsdb.tools.serve.dataset;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tech.bsdb.IoCounters;
import tech.bsdb.store.ReloadingDatabase;
import tech.bsdb.store.Store;
import tech.bsdb.tools.inspect.Place;
import tech.bsdb.tools.serve.client.LookupCounts;

/**
 * The data sets of a service, of which there is at least one. Their set changes by {@link #refresh}
 * alone. Thread-safe.
 */
public final class DataSets implements AutoCloseable {
  private final DataSetLocations locations;
  private final Opener opener;
  private final LookupCounts counts;
  private final Consumer<String> said;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final Object reading = new Object(); // held so that a removal does not lessen the reads
  private volatile Served served;
  private volatile Runnable changed = () -> {};

  /** Opens a data set and checks that it can be served. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens a data set.
     *
     * @param name empty if it is the only one and has none
     * @throws IOException if that fails
     */
    ReloadingDatabase open(String name, Place place) throws IOException;
  }

  /**
   * What a refresh has changed.
   *
   * @param added the names of new data sets
   * @param removed the names of those that are not served any more
   * @param failed why new ones could not be opened, by name
   */
  public record Changes(List<String> added, List<String> removed, Map<String, String> failed) {}

  /** The data sets at one moment, by number. */
  private record Served(
      List<DataSet> all, Map<String, DataSet> byName, DataSet zero, IoCounters readsOfRemoved) {
    /**
     * Some data sets.
     *
     * @param removed the last to have number 0, in case that none of these has it
     */
    static Served of(List<DataSet> all, DataSet removed, IoCounters readsOfRemoved) {
      Map<String, DataSet> byName = new HashMap<>();
      all.forEach(each -> byName.put(each.name(), each));
      DataSet first = all.get(0);
      return new Served(
          List.copyOf(all), byName, first.number() == 0 ? first : removed, readsOfRemoved);
    }
  }

  /**
   * Opens all data sets.
   *
   * @param counts counts the lookups in all of them
   * @param said receives messages for the operator
   * @throws IOException if one cannot be opened; none stays open then
   */
  public DataSets(
      DataSetLocations locations, Opener opener, LookupCounts counts, Consumer<String> said)
      throws IOException {
    this.locations = locations;
    this.opener = opener;
    this.counts = counts;
    this.said = said;
    List<DataSet> all = new ArrayList<>();
    try {
      for (Map.Entry<String, Place> found : locations.find(said).entrySet()) {
        all.add(opened(found.getKey(), found.getValue()));
      }
    } catch (IOException | RuntimeException e) {
      all.forEach(each -> each.database().close());
      throw e;
    }
    this.served = Served.of(all, all.get(0), new IoCounters(0, 0));
  }

  private DataSet opened(String name, Place place) throws IOException {
    ReloadingDatabase database = opener.open(name, place);
    int number = numbers.computeIfAbsent(name, unused -> numbers.size());
    LookupCounts own = locations.areNamed() ? counts.part() : counts;
    return new DataSet(name, number, database, own);
  }

  /** Sets what is run when data sets may have been added, removed or replaced. */
  public void onRefresh(Runnable task) {
    changed = task;
  }

  /** Whether data sets have names. Otherwise there is exactly one. */
  public boolean areNamed() {
    return locations.areNamed();
  }

  /** Returns what they are and where, for people. */
  public String description() {
    Path folder = locations.folder();
    return folder == null ? locations.places() : names() + " of " + folder;
  }

  /** Returns all data sets, by number. */
  public List<DataSet> all() {
    return served.all;
  }

  /** Returns the data set with the lowest number. */
  public DataSet first() {
    return served.all.get(0);
  }

  /** Returns the data set with number 0, which may have been removed. */
  public DataSet zero() {
    return served.zero;
  }

  /** Returns the data set with a name; null if there is none. */
  public @Nullable DataSet named(String name) {
    return served.byName.get(name);
  }

  /** Returns the data set with a number; null if there is none. */
  public @Nullable DataSet numbered(long number) {
    for (DataSet each : served.all) {
      if (each.number() == number) {
        return each;
      }
    }
    return null;
  }

  /** Returns the reads of all data sets so far, with those that were removed. */
  public IoCounters ioCounters() {
    synchronized (reading) {
      return reads(served.all, served.readsOfRemoved);
    }
  }

  private static IoCounters reads(List<DataSet> of, IoCounters others) {
    return of.stream().map(each -> each.database().ioCounters()).reduce(others, IoCounters::plus);
  }

  /** Returns the names of all data sets, for people. */
  public String names() {
    return names(name -> true);
  }

  /** Returns some names of data sets, for people. */
  public String names(Predicate<String> shown) {
    return String.join(", ", served.all.stream().map(DataSet::name).filter(shown).toList());
  }

  /**
   * Opens data sets that have been added to the folder, and ends serving those that have gone, and
   * says so. A name keeps its number for as long as the service runs.
   *
   * @throws IOException if the folder cannot be read or holds no data set any more; nothing changes
   *     then
   */
  public synchronized Changes refresh() throws IOException {
    Map<String, Place> found = locations.find(said);
    List<DataSet> all = new ArrayList<>();
    List<DataSet> gone = new ArrayList<>();
    Map<String, Place> fresh = new LinkedHashMap<>(found);
    Map<String, DataSet> replaced = new HashMap<>();
    for (DataSet each : served.all) {
      Place place = found.get(each.name());
      if (place == null) {
        gone.add(each);
      } else if (place instanceof Place.Here here
          && Store.isStore(here.directory()) != each.database().followsStore()) {
        replaced.put(each.name(), each); // a store has taken the place of a database, or vice versa
      } else {
        all.add(each);
        fresh.remove(each.name());
      }
    }
    List<String> added = new ArrayList<>();
    Map<String, String> failed = new TreeMap<>();
    for (Map.Entry<String, Place> each : fresh.entrySet()) {
      try {
        all.add(opened(each.getKey(), each.getValue()));
        added.add(each.getKey());
        said.accept("data set " + each.getKey() + " is now served");
      } catch (IOException | RuntimeException e) {
        failed.put(each.getKey(), String.valueOf(e.getMessage()));
        DataSet before = replaced.remove(each.getKey());
        if (before != null) {
          all.add(before);
        }
        said.accept("data set " + each.getKey() + " cannot be served: " + e.getMessage());
      }
    }
    if (all.isEmpty()) {
      throw new IOException("none of the data sets can be opened: " + failed);
    }
    all.sort(Comparator.comparingInt(DataSet::number));
    synchronized (reading) {
      List<DataSet> ended = new ArrayList<>(served.all);
      ended.removeAll(all);
      served = Served.of(all, served.zero, reads(ended, served.readsOfRemoved));
    }
    replaced.values().forEach(DataSet::remove);
    for (DataSet each : gone) {
      each.remove();
      said.accept("data set " + each.name() + " is not served any more");
    }
    changed.run();
    return new Changes(added, gone.stream().map(DataSet::name).toList(), failed);
  }

  @Override
  public synchronized void close() {
    served.all.forEach(each -> each.database().close());
  }
}
