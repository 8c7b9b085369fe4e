package tech.bsdb.flink.sink;

import java.io.Serializable;
import tech.bsdb.DuplicatePolicy;

/**
 * One write of a job. Immutable; travels to the task managers.
 *
 * @param name what the names of its versions begin with
 * @param marker what the markers of its versions say, which no other write says
 * @param batch whether the input is bounded, and an attempt begins from the start
 * @param merged whether rows are added to the current version; else they replace it
 * @param duplicates what several rows with one key mean
 * @param checkpointed whether versions are published when checkpoints are complete, so that none is
 *     lost or published twice; else once, at the end
 */
record WritePlan(
    SinkSettings settings,
    String name,
    String marker,
    boolean batch,
    boolean merged,
    DuplicatePolicy duplicates,
    boolean checkpointed)
    implements Serializable {
  /** The checkpoint of what is written at the end of the input. */
  static final long END = Long.MAX_VALUE;

  private static final String ATTEMPT = "-r";

  /** What all markers of Flink begin with. */
  static final String MARKER_START = "flink ";

  /**
   * The name of the version of a checkpoint.
   *
   * @param attempt the attempt of the subtask that sends all of it; where several send, 0
   */
  String version(long checkpoint, int attempt) {
    String version = checkpoint == END ? end() : name + "-" + checkpoint;
    return attempt == 0 ? version : version + ATTEMPT + attempt;
  }

  private String end() {
    return batch ? name : name + "-end";
  }

  /** Whether a version is what this write publishes at the end of its input. */
  boolean isEnd(String version) {
    return version.equals(end()) || version.startsWith(end() + ATTEMPT);
  }
}
