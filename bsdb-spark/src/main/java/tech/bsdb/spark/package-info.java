/**
 * The connector for Apache Spark: {@code df.write.format("bsdb")} and {@code
 * spark.read.format("bsdb")}.
 *
 * <p>{@link tech.bsdb.spark.BsdbSource} is what Spark loads by the name {@code bsdb}; {@code
 * tech.bsdb.spark.BsdbTable} is a store of versions that it writes and reads.
 */
@NullMarked
package tech.bsdb.spark;

import org.jspecify.annotations.NullMarked;
