/**
 * Rows of Spark as typed rows (docs/guides/rows.md) and back: the types of columns, and the bytes
 * of keys and values, as {@code bsdb build-parquet} makes them.
 */
@NullMarked
package tech.bsdb.spark.rows;

import org.jspecify.annotations.NullMarked;
