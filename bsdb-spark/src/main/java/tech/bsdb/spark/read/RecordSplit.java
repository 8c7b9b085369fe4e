package tech.bsdb.spark.read;

import org.apache.spark.sql.connector.read.InputPartition;

/** The records of a database that one task scans. */
record RecordSplit(ShardPlace place) implements InputPartition {}
