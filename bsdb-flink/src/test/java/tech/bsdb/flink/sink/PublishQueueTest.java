package tech.bsdb.flink.sink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tech.bsdb.flink.sink.PublishQueue.Saved;
import tech.bsdb.flink.sink.ShardReport.Origin;

/** The order and the conditions in which versions are published. */
final class PublishQueueTest {
  private static final int SHARDS = 2;

  private final PublishQueue queue = new PublishQueue(SHARDS);

  private static ShardReport report(long checkpoint, int number, boolean changed) {
    return report(checkpoint, number, changed, changed ? "v" + checkpoint : "base");
  }

  /** A report of a shard that was built for a version, whose content is that of no other. */
  private static ShardReport report(long checkpoint, int number, boolean changed, String version) {
    Origin origin = new Origin(version, version + "/" + number, "id of " + version, 1);
    return new ShardReport(checkpoint, number, origin, "marker", changed, null, "base", "form");
  }

  private void add(long checkpoint, boolean... changed) {
    for (int i = 0; i < changed.length; i++) {
      queue.add(report(checkpoint, i, changed[i]));
    }
  }

  /** What is published now, one after another. */
  private static List<String> published(PublishQueue queue) {
    List<String> versions = new java.util.ArrayList<>();
    List<ShardReport> next = queue.next();
    while (next != null) {
      assertThat(next).extracting(ShardReport::number).containsExactly(0, 1);
      String version = Objects.requireNonNull(queue.changed(next)).version();
      versions.add(version);
      queue.publish(version);
      next = queue.next();
    }
    return versions;
  }

  @Test
  void versionsWaitForTheirCheckpoints() {
    add(1, true, true);
    add(2, true, false);
    assertThat(published(queue)).isEmpty();
    queue.complete(1);
    assertThat(published(queue)).containsExactly("v1");
    assertThat(queue.published()).isEqualTo("v1");
    queue.complete(2);
    assertThat(published(queue)).containsExactly("v2");
  }

  @Test
  void completeCheckpointsWaitForTheirReports() {
    queue.complete(1);
    add(1, true);
    assertThat(published(queue)).isEmpty();
    queue.add(report(1, 1, true));
    assertThat(published(queue)).containsExactly("v1");
  }

  @Test
  void whatIsUnchangedIsNotPublished() {
    add(1, false, false);
    add(2, false, true);
    queue.complete(2);
    assertThat(published(queue)).containsExactly("v2");
    assertThat(queue.save(3, false).waiting()).isEmpty();
  }

  @Test
  void checkpointsThatNotAllTookPartInAreLeftToTheNext() {
    add(1, true);
    add(2, true, true);
    queue.complete(2);
    assertThat(published(queue)).containsExactly("v2");
  }

  @Test
  void changesOfSuchACheckpointArePublishedWithTheNextEvenIfThatHasNone() {
    add(1, true);
    queue.add(report(2, 0, false, "v1"));
    queue.add(report(2, 1, false));
    queue.complete(2);
    assertThat(published(queue)).containsExactly("v1");
    queue.add(report(3, 0, false, "v1"));
    queue.add(report(3, 1, false));
    queue.complete(3);
    assertThat(published(queue)).isEmpty();
  }

  @Test
  void abortedCheckpointsArePublishedWithTheNext() {
    add(1, true, true);
    add(2, true, true);
    queue.complete(2); // 1 was not complete by itself
    assertThat(published(queue)).containsExactly("v1", "v2");
  }

  @Test
  void theEndWaitsForACheckpointAfterIt() {
    add(WritePlan.END, true, true);
    queue.complete(7);
    assertThat(published(queue)).isEmpty();
    Saved unused = queue.save(8, true);
    queue.complete(7);
    assertThat(published(queue)).isEmpty();
    queue.complete(8);
    assertThat(published(queue)).containsExactly("v" + WritePlan.END);
  }

  @Test
  void theEndWithoutCheckpoints() {
    add(WritePlan.END, true, true);
    queue.endWithoutCheckpoint();
    assertThat(published(queue)).containsExactly("v" + WritePlan.END);
  }

  private static PublishQueue restored(Saved saved, long checkpoint, @Nullable String current) {
    PublishQueue restored = new PublishQueue(SHARDS);
    restored.restore(saved, checkpoint, current);
    return restored;
  }

  @Test
  void restoredQueuesPublishWhatWasNotPublishedSince() {
    add(3, true, true);
    queue.complete(3);
    assertThat(published(queue)).containsExactly("v3");
    add(4, true, true);
    add(5, true, true);
    Saved saved = queue.save(5, false);
    assertThat(published(restored(saved, 5, "v3"))).containsExactly("v4", "v5");
    assertThat(published(restored(saved, 5, "v4"))).containsExactly("v5");
    PublishQueue all = restored(saved, 5, "v5");
    assertThat(published(all)).isEmpty();
    assertThat(all.published()).isEqualTo("v5");
    // of another write: whoever publishes finds out
    assertThat(published(restored(saved, 5, "other"))).containsExactly("v4", "v5");
    assertThat(restored(saved, 5, "other").published()).isEqualTo("v3");
  }

  @Test
  void restoredEndIsPublishedOnce() {
    add(WritePlan.END, true, true);
    Saved saved = queue.save(9, true);
    assertThat(published(restored(saved, 9, "v3"))).hasSize(1);
    assertThat(published(restored(saved, 9, "v" + WritePlan.END))).isEmpty();
  }

  @Test
  void theEndOfARestoredQueueWaitsForItsOwnCheckpoint() {
    add(WritePlan.END, true, true);
    PublishQueue restored = restored(queue.save(9, true), 9, "v3");
    assertThat(published(restored)).hasSize(1);
    restored.add(report(WritePlan.END, 0, true, "v10"));
    restored.add(report(WritePlan.END, 1, true, "v10"));
    restored.complete(9);
    assertThat(published(restored)).isEmpty();
    Saved unused = restored.save(10, true);
    restored.complete(10);
    assertThat(published(restored)).containsExactly("v10");
  }
}
