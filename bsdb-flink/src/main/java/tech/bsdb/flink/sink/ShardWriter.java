package tech.bsdb.flink.sink;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.flink.place.Places;
import tech.bsdb.flink.sink.ShardReport.Origin;
import tech.bsdb.tools.publish.BuiltSet;
import tech.bsdb.tools.publish.DistantStore;
import tech.bsdb.tools.source.DistantDirectory;
import tech.bsdb.transfer.Inventory;
import tech.bsdb.transfer.Shipment;
import tech.bsdb.transfer.TransferOptions;

/**
 * Builds the shards of a subtask: those whose numbers leave the number of the subtask when they are
 * divided by that of all subtasks. Before each checkpoint, it builds what has changed, from the
 * last version and the changes, sends it, and reports it; so its state is only where the shards
 * are.
 */
final class ShardWriter extends AbstractStreamOperator<byte[]>
    implements OneInputStreamOperator<Tuple3<Integer, byte[], byte[]>, byte[]>, BoundedOneInput {
  private static final long serialVersionUID = 1L;
  private static final Logger LOGGER = LoggerFactory.getLogger(ShardWriter.class);
  private static final int UPLOADS = 4;

  private final WritePlan plan;
  private transient @Nullable ListState<byte[]> state;
  private transient @Nullable Shards shards;

  ShardWriter(WritePlan plan) {
    this.plan = plan;
  }

  /**
   * What a subtask has open.
   *
   * @param base the version that the job began with; null if there was none
   * @param done whether an earlier attempt published all of it, so that nothing is to be done
   */
  private record Shards(
      DistantDirectory directory,
      Path work,
      @Nullable String base,
      boolean done,
      int attempt,
      Map<Integer, SentShard> own) {}

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state =
        context
            .getOperatorStateStore()
            .getUnionListState(
                new ListStateDescriptor<>(
                    "shards", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
    Map<Integer, ShardReport> restored = new HashMap<>();
    for (byte[] encoded : state.get()) {
      ShardReport report = ShardReport.decode(encoded);
      restored.put(report.number(), report);
    }
    DistantDirectory directory = Places.open(plan.settings().path());
    try {
      shards = opened(directory, restored);
    } catch (IOException | RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  private Shards opened(DistantDirectory directory, Map<Integer, ShardReport> restored)
      throws IOException {
    SinkSettings settings = plan.settings();
    int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    int subtasks = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    requireSame(restored.values());
    DistantStore store = new DistantStore(directory, BuiltSet.attempts(directory));
    Object unused = store.entries();
    Base base = restored.isEmpty() ? base(directory, store.current()) : new Base(null, Map.of());
    String first = restored.isEmpty() ? base.version() : restored.values().iterator().next().base();
    Path work = Files.createTempDirectory(localDirectory(subtask), "bsdb-sink-" + subtask + "-");
    Map<Integer, SentShard> own = new TreeMap<>();
    for (int number = subtask; number < settings.shards(); number += subtasks) {
      ShardReport report = restored.get(number);
      Origin origin = report == null ? base.shards().get(number) : report.origin();
      own.put(
          number,
          new SentShard(
              plan,
              number,
              origin,
              report == null ? null : report.shard(),
              work.resolve(String.valueOf(number))));
    }
    int attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
    String current = base.version();
    boolean done = false;
    if (current != null && plan.isEnd(current)) {
      done = true;
      store.unmark(current); // which was all that an earlier attempt still had to do
    }
    return new Shards(directory, work, first, done, attempt, own);
  }

  /** Fails if a job was saved with other shards or records. */
  private void requireSame(Collection<ShardReport> restored) {
    SinkSettings settings = plan.settings();
    String why = null;
    if (!restored.isEmpty() && restored.size() != settings.shards()) {
      why =
          "with %s shards and cannot continue with 'sink.shards' = '%s'"
              .formatted(restored.size(), settings.shards());
    } else if (restored.stream().anyMatch(each -> !each.form().equals(settings.form()))) {
      why =
          "with other columns, another key or another 'key-join', and cannot continue with these;"
              + " start it without its saved state, and replace the rows: INSERT OVERWRITE";
    }
    if (why != null) {
      throw new SuppressRestartsException(new IllegalArgumentException("the job was saved " + why));
    }
  }

  private Path localDirectory(int subtask) throws IOException {
    String given = plan.settings().directory();
    if (given != null) {
      return Files.createDirectories(Path.of(given));
    }
    String[] own = getRuntimeContext().getTaskManagerRuntimeInfo().getTmpDirectories();
    return Files.createDirectories(Path.of(own[subtask % own.length]));
  }

  /** The version that a job begins with: its name, null if there is none, and its shards. */
  record Base(@Nullable String version, Map<Integer, Origin> shards) {
    /** The current version of a store. */
    static Base current(DistantDirectory directory) throws IOException {
      String version = new DistantStore(directory, BuiltSet.attempts(directory)).current();
      return version == null
          ? new Base(null, Map.of())
          : of(version, inventory(directory, version));
    }

    private static Inventory inventory(DistantDirectory directory, String version)
        throws IOException {
      TransferOptions transfer = TransferOptions.defaults();
      Shipment shipment = Shipment.read(directory, version, transfer, () -> {});
      return Inventory.read(directory, shipment, transfer, () -> {});
    }

    private static Base of(String version, Inventory inventory) {
      Map<Integer, Origin> shards = new HashMap<>();
      for (Inventory.Item item : inventory.items()) {
        String below = item.part().directory();
        String path = below.isEmpty() ? version : version + "/" + below;
        shards.put(item.shard(), new Origin(version, path, item.part().id(), item.records()));
      }
      return new Base(version, shards);
    }
  }

  /**
   * What the job begins with. Rows are added to the current version, which must fit; one that is to
   * be replaced may even be damaged.
   */
  private Base base(DistantDirectory directory, @Nullable String current) throws IOException {
    boolean own = current != null && plan.isEnd(current);
    if (current == null || !(plan.merged() || own)) {
      return new Base(null, Map.of());
    }
    Inventory inventory = Base.inventory(directory, current);
    if (!own) {
      requireFit(directory.location(current), inventory);
    }
    return Base.of(current, inventory);
  }

  private void requireFit(String version, Inventory inventory) {
    SinkSettings settings = plan.settings();
    String why =
        inventory.approximate()
            ? "is approximate and keeps no keys"
            : inventory.shards() != settings.shards()
                ? "has " + inventory.shards() + " shards, not " + settings.shards()
                : !Objects.equals(inventory.valueSchema(), settings.schema())
                    ? "has rows with other columns"
                    : null;
    if (why != null) {
      throw new SuppressRestartsException(
          new IllegalArgumentException(
              ("%s %s, so that rows cannot be added to it; declare the table alike, or replace it:"
                      + " INSERT OVERWRITE")
                  .formatted(version, why)));
    }
  }

  @Override
  public void processElement(StreamRecord<Tuple3<Integer, byte[], byte[]>> element)
      throws IOException {
    Shards open = shards();
    if (open.done) {
      return;
    }
    Tuple3<Integer, byte[], byte[]> change = element.getValue();
    boolean deleted = change.f0 < 0;
    SentShard shard = Objects.requireNonNull(open.own.get(deleted ? ~change.f0 : change.f0));
    shard.change(open.directory, change.f1, deleted ? null : change.f2);
  }

  private Shards shards() {
    return Objects.requireNonNull(shards, "not open");
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpoint) throws IOException {
    send(checkpoint); // also for a savepoint of a job without checkpoints
  }

  @Override
  public void endInput() throws IOException {
    send(WritePlan.END);
  }

  private void send(long checkpoint) throws IOException {
    Shards open = shards();
    for (Map.Entry<Integer, SentShard> each : open.own.entrySet()) {
      SentShard shard = each.getValue();
      boolean changed = !open.done && shard.isChanged();
      if (changed) {
        // Several that send one version share its name; one that sends it alone has its own.
        int attempt = plan.settings().shards() == 1 ? open.attempt : 0;
        send(open, shard, plan.version(checkpoint, attempt));
      }
      output.collect(
          new StreamRecord<>(report(open, each.getKey(), shard, checkpoint, changed).encode()));
    }
  }

  private void send(Shards open, SentShard shard, String version) throws IOException {
    new DistantStore(open.directory, BuiltSet.attempts(open.directory))
        .mark(version, plan.marker());
    try {
      shard.send(open.directory, version, plan.marker(), UPLOADS);
    } catch (DuplicateKeyException e) {
      throw new SuppressRestartsException(
          new IllegalArgumentException(
              ("%s: the key %s occurs more than once; 'sink.duplicates' = 'last' keeps the row that"
                      + " arrives last")
                  .formatted(plan.settings().path(), DuplicateKeyException.show(e.key())),
              e));
    }
    LOGGER.info("sent {}", shard.origin());
  }

  private ShardReport report(
      Shards open, int number, SentShard shard, long checkpoint, boolean changed) {
    Origin origin = Objects.requireNonNull(shard.origin(), "built");
    return new ShardReport(
        checkpoint,
        number,
        origin,
        plan.marker(),
        changed,
        shard.shard(),
        open.base,
        plan.settings().form());
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    Shards open = shards();
    List<byte[]> reports = new ArrayList<>();
    for (Map.Entry<Integer, SentShard> each : open.own.entrySet()) {
      if (each.getValue().origin() != null) {
        reports.add(
            report(open, each.getKey(), each.getValue(), context.getCheckpointId(), false)
                .encode());
      }
    }
    Objects.requireNonNull(state, "not open").update(reports);
  }

  @Override
  public void close() throws Exception {
    Shards open = shards;
    shards = null;
    if (open != null) {
      for (SentShard shard : open.own.values()) {
        shard.close();
      }
      remove(open.work);
      open.directory.close();
    }
    super.close();
  }

  /** Removes a directory of this machine; a failure is told in the log. */
  static void remove(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      LOGGER.warn("{} could not be removed: {}", directory, e.toString());
    }
  }
}
