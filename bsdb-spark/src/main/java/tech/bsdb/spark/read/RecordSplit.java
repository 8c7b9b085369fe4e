package tech.bsdb.spark.read;

import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The records of a database that one task scans.
 *
 * @param place the database
 * @param part the number of the part of its records, from 0
 * @param parts the number of parts
 */
record RecordSplit(ShardPlace place, int part, int parts) implements InputPartition {}
