/**
 * Writing: rows become records, a shuffle brings the records of each shard together, one task
 * builds each shard and sends it to the store, and the driver makes the version current.
 *
 * <p>{@link tech.bsdb.spark.write.VersionWriteBuilder} is the entry point. {@link
 * tech.bsdb.spark.write.SetWrite} runs on the driver; {@link tech.bsdb.spark.write.RecordEncoding}
 * and {@link tech.bsdb.spark.write.ShardTask} run on executors.
 */
@NullMarked
package tech.bsdb.spark.write;

import org.jspecify.annotations.NullMarked;
