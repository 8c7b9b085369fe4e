/**
 * Reads databases as tables: what a location holds when a query is planned ({@link
 * tech.bsdb.spark.read.StoredTable}), which part of it a query needs, and the tasks that read it.
 */
@NullMarked
package tech.bsdb.spark.read;

import org.jspecify.annotations.NullMarked;
