package tech.bsdb.flink.sink;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.InstantiationUtil;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.flink.place.Places;
import tech.bsdb.flink.sink.PublishQueue.Saved;
import tech.bsdb.flink.sink.ShardReport.Origin;
import tech.bsdb.store.Pointer;
import tech.bsdb.store.VersionName;
import tech.bsdb.tools.publish.BuiltSet;
import tech.bsdb.tools.publish.DistantStore;
import tech.bsdb.tools.source.DistantDirectory;

/**
 * Makes versions current, in the order of their checkpoints: each once all its shards are reported
 * and its checkpoint is complete, so that what a failure repeats was not published before. The one
 * subtask of a write that changes which version is current.
 */
final class Publisher extends AbstractStreamOperator<Void>
    implements OneInputStreamOperator<byte[], Void>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOGGER = LoggerFactory.getLogger(Publisher.class);

  private final WritePlan plan;
  private transient @Nullable ListState<byte[]> state;

  private transient PublishQueue queue = new PublishQueue(0);
  private transient boolean ended;

  Publisher(WritePlan plan) {
    this.plan = plan;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    queue = new PublishQueue(plan.settings().shards());
    state =
        context
            .getOperatorStateStore()
            .getListState(
                new ListStateDescriptor<>(
                    "waiting", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    OptionalLong restored = context.getRestoredCheckpointId();
    if (restored.isPresent()) {
      String current;
      try (DistantDirectory directory = Places.open(plan.settings().path())) {
        current = new DistantStore(directory, BuiltSet.attempts(directory)).current();
      }
      for (byte[] encoded : state.get()) {
        Saved saved = InstantiationUtil.deserializeObject(encoded, Saved.class.getClassLoader());
        queue.restore(saved, restored.getAsLong(), current);
      }
      publish();
    }
  }

  @Override
  public void processElement(StreamRecord<byte[]> element) throws IOException {
    queue.add(ShardReport.decode(element.getValue()));
    publish();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    Saved saved = queue.save(context.getCheckpointId(), ended);
    Objects.requireNonNull(state, "not open")
        .update(List.of(InstantiationUtil.serializeObject(saved)));
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) throws Exception {
    super.notifyCheckpointComplete(checkpoint);
    queue.complete(checkpoint);
    publish();
  }

  @Override
  public void endInput() throws IOException {
    ended = true;
    if (!plan.checkpointed()) {
      queue.endWithoutCheckpoint();
      publish();
    }
  }

  /** Publishes what may be. */
  private void publish() throws IOException {
    List<ShardReport> next = queue.next();
    while (next != null) {
      ShardReport changed = Objects.requireNonNull(queue.changed(next));
      publish(changed.version(), changed.marker(), next);
      queue.publish(changed.version());
      next = queue.next();
    }
  }

  private void publish(String version, String marker, List<ShardReport> reports)
      throws IOException {
    try (DistantDirectory directory = Places.open(plan.settings().path())) {
      DistantStore store = new DistantStore(directory, BuiltSet.attempts(directory));
      String current = store.current();
      if (version.equals(current)) {
        store.unmark(version); // an earlier attempt came that far
      } else {
        try {
          requireUnmoved(directory, current, reports);
          commit(directory, store, version, marker, reports);
        } catch (SuppressRestartsException moved) {
          if (marker.equals(store.marker(version))) {
            boolean unused = store.remove(version);
          }
          throw moved;
        }
      }
      clean(store, version);
      store.warnings().forEach(LOGGER::warn);
    }
  }

  private void commit(
      DistantDirectory directory,
      DistantStore store,
      String version,
      String marker,
      List<ShardReport> reports)
      throws IOException {
    if (store.marker(version) == null && store.databaseId(version) != null) {
      throw moved(directory, store.current(), version); // it was published, and is not current
    }
    store.mark(version, marker);
    List<BuiltSet.Shard> shards = new ArrayList<>();
    for (ShardReport report : reports) {
      shards.add(inVersion(directory, store, report, version));
    }
    @Nullable Pointer unused =
        BuiltSet.of(shards)
            .commit(
                directory,
                store,
                version,
                marker,
                replaced -> requireUnmoved(directory, replaced, reports));
    LOGGER.info(
        "{}: version {} is current, with {} records",
        directory.location(""),
        version,
        shards.stream().mapToLong(BuiltSet.Shard::records).sum());
  }

  /** Fails if another write, or a rollback, has made another version current. */
  private void requireUnmoved(
      DistantDirectory directory, @Nullable String current, List<ShardReport> reports) {
    if (!plan.merged()) {
      return;
    }
    String published = queue.published();
    for (ShardReport report : reports) {
      String before = published == null ? report.base() : published;
      if (!Objects.equals(before, current)) {
        throw moved(directory, current, before);
      }
    }
  }

  private static SuppressRestartsException moved(
      DistantDirectory directory, @Nullable String current, @Nullable String before) {
    return new SuppressRestartsException(
        new IllegalStateException(
            ("%s: version %s became current while this job continued %s, and would be lost;"
                    + " nothing was published. Start the job anew, without its saved state, to"
                    + " continue from the current version")
                .formatted(directory.location(""), current, before)));
  }

  /** The shard in the directory of a version, to which its files are copied if they are not. */
  private BuiltSet.Shard inVersion(
      DistantDirectory directory, DistantStore store, ShardReport report, String version)
      throws IOException {
    if (report.version().equals(version)) {
      return Objects.requireNonNull(report.shard(), "built");
    }
    // The last version has it, too, unless it was built for a checkpoint that failed: its own may
    // have been removed.
    String last = queue.published();
    boolean unpublished = store.marker(report.version()) != null;
    String from = last == null || unpublished ? report.version() : last;
    BuiltSet.Shard shard = report.shard();
    BuiltSet.Shard known = shard == null ? found(store, report, from) : shard;
    for (String file : known.files().keySet()) {
      try (InputStream in = directory.open(from + "/" + file, 0)) {
        directory.write(version + "/" + file, in);
      }
    }
    return known;
  }

  /** A shard that was there when the job began. */
  private static BuiltSet.Shard found(DistantStore store, ShardReport report, String from)
      throws IOException {
    Origin origin = report.origin();
    String below = origin.directory().substring(origin.version().length() + 1) + "/";
    Map<String, Long> files =
        store.lengths(from).entrySet().stream()
            .filter(file -> file.getKey().startsWith(below))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    return new BuiltSet.Shard(
        report.number(), origin.databaseId(), origin.records(), 0, 0, files, null);
  }

  /** Removes old versions, and what failed attempts have left: others, once it is a day old. */
  private void clean(DistantStore store, String version) {
    int keep = plan.settings().keep();
    try {
      for (String name : store.unfinished(store.entries())) {
        if (plan.marker().equals(store.marker(name))
            && VersionName.NATURAL.compare(name, version) < 0
            && !queue.versions().contains(name)
            && store.remove(name)) {
          LOGGER.info("removed {}, which a failed attempt left", name);
        }
      }
      store
          .keep(version, keep < 0 ? Integer.MAX_VALUE : keep)
          .forEach(name -> LOGGER.info("removed version {}", name));
    } catch (IOException e) {
      LOGGER.warn("version {} is current, but not all old ones were removed", version, e);
    }
  }
}
