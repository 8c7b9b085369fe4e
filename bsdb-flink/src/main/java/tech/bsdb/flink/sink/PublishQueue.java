package tech.bsdb.flink.sink;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which versions wait for being published. A version may be, once all its shards are reported and
 * its checkpoint is complete; that of the end, once a checkpoint is complete that was taken after
 * the input had ended. Not thread-safe.
 */
final class PublishQueue {
  private final int shards;

  /** The reports of each checkpoint, by the numbers of the shards. */
  private final NavigableMap<Long, Map<Integer, ShardReport>> waiting = new TreeMap<>();

  private @Nullable String published;

  /** The database ids of the shards of that version, by their numbers. */
  private final Map<Integer, String> current = new TreeMap<>();

  private long completed = -1;

  /** The first checkpoint after the end of the input. */
  private long last = WritePlan.END;

  /**
   * Creates an empty queue.
   *
   * @param shards the number of shards of each version
   */
  PublishQueue(int shards) {
    this.shards = shards;
  }

  /**
   * The content of a queue.
   *
   * @param published the version that was published last; null if none was
   * @param current the database ids of its shards
   * @param last the first checkpoint after the end of the input, or {@link WritePlan#END}
   * @param waiting the reports
   */
  record Saved(
      @Nullable String published,
      Map<Integer, String> current,
      long last,
      List<ShardReport> waiting)
      implements Serializable {
    /** Copies the list and the map. */
    Saved {
      current = Map.copyOf(current);
      waiting = List.copyOf(waiting);
    }
  }

  /**
   * What is to be kept at a checkpoint.
   *
   * @param ended whether the input has ended
   */
  Saved save(long checkpoint, boolean ended) {
    if (ended) {
      last = Math.min(last, checkpoint);
    }
    List<ShardReport> reports = new ArrayList<>();
    waiting.values().forEach(each -> reports.addAll(each.values()));
    return new Saved(published, current, last, reports);
  }

  /**
   * Restores a queue from a complete checkpoint. What it waited to publish then may have been
   * published since: all up to the version that is current was.
   *
   * @param currentVersion the current version of the store; null if there is none
   */
  void restore(Saved saved, long checkpoint, @Nullable String currentVersion) {
    published = saved.published;
    current.putAll(saved.current);
    completed = checkpoint;
    for (ShardReport report : saved.waiting) {
      // What the job wrote at its end waits for no other checkpoint, unlike what it will write.
      boolean end = report.checkpoint() == WritePlan.END && saved.last <= checkpoint;
      add(end ? checkpoint : report.checkpoint(), report);
    }
    for (Map.Entry<Long, Map<Integer, ShardReport>> each : waiting.entrySet()) {
      Collection<ShardReport> reports = each.getValue().values();
      String version = version(reports);
      if (isComplete(each.getKey()) && version != null && version.equals(currentVersion)) {
        take(version, reports);
        waiting.headMap(each.getKey(), true).clear();
        return;
      }
    }
  }

  void add(ShardReport report) {
    add(report.checkpoint(), report);
  }

  private void add(long checkpoint, ShardReport report) {
    waiting.computeIfAbsent(checkpoint, none -> new TreeMap<>()).put(report.number(), report);
  }

  /** A checkpoint is complete. */
  void complete(long checkpoint) {
    completed = Math.max(completed, checkpoint);
  }

  /** The input has ended, and there are no checkpoints. */
  void endWithoutCheckpoint() {
    completed = WritePlan.END;
  }

  private boolean isComplete(long checkpoint) {
    return completed >= (checkpoint == WritePlan.END ? last : checkpoint);
  }

  /**
   * The reports of the next version to publish, by the numbers of the shards; null if there is none
   * yet. Checkpoints without changes are left out, and so are those before the last that not all
   * shards took part in, whose changes are in the next.
   */
  @Nullable List<ShardReport> next() {
    while (!waiting.isEmpty() && isComplete(waiting.firstKey())) {
      Collection<ShardReport> reports = waiting.firstEntry().getValue().values();
      boolean whole = reports.size() == shards;
      if (!whole && waiting.size() == 1) {
        return null; // the others are on their way
      }
      if (whole && version(reports) != null) {
        return List.copyOf(reports);
      }
      waiting.pollFirstEntry();
    }
    return null;
  }

  /** The version that reports with changes are of; null if there are none. */
  private @Nullable String version(Collection<ShardReport> reports) {
    ShardReport changed = changed(reports);
    return changed == null ? null : changed.version();
  }

  /**
   * A report of a shard that is not in the version that was published last, above all one that was
   * built for this checkpoint; null if there is none.
   */
  @Nullable ShardReport changed(Collection<ShardReport> reports) {
    return reports.stream()
        .filter(ShardReport::changed)
        .findFirst()
        .or(() -> reports.stream().filter(this::isMissing).findFirst())
        .orElse(null);
  }

  private boolean isMissing(ShardReport report) {
    String id = current.get(report.number());
    return id == null
        ? !report.version().equals(report.base())
        : !id.equals(report.origin().databaseId());
  }

  /** The versions that have files of reports that wait. */
  Set<String> versions() {
    return waiting.values().stream()
        .flatMap(each -> each.values().stream())
        .map(ShardReport::version)
        .collect(Collectors.toSet());
  }

  /** The version that {@link #next} told of is current. */
  void publish(String version) {
    take(version, waiting.pollFirstEntry().getValue().values());
  }

  private void take(String version, Collection<ShardReport> reports) {
    published = version;
    reports.forEach(each -> current.put(each.number(), each.origin().databaseId()));
  }

  /** The version that was published last; null if none was. */
  @Nullable String published() {
    return published;
  }
}
