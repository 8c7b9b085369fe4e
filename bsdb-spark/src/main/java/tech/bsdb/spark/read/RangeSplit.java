package tech.bsdb.spark.read;

import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The range of a database that one task reads.
 *
 * @param place the database
 * @param interval the range
 * @param counted whether only the number of its keys is wanted
 */
record RangeSplit(ShardPlace place, KeyInterval interval, boolean counted)
    implements InputPartition {}
