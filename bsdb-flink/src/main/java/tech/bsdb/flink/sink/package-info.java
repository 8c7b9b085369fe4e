/** Versions written by a job: records, the shards of a subtask, and the one that publishes. */
@NullMarked
package tech.bsdb.flink.sink;

import org.jspecify.annotations.NullMarked;
