/**
 * Reads Parquet files as records: a key made of columns, and a value that is a column's bytes or
 * the row in Avro's binary encoding.
 *
 * <p>{@link tech.bsdb.tools.parquet.ParquetRecords} is the entry point. Data flows in one
 * direction: footers yield {@link tech.bsdb.tools.rows.RowType types}, which are merged over all
 * files into the schema; workers then read row groups and encode them row by row, from column
 * readers to bytes; the calling thread takes the rows in input order.
 */
@NullMarked
package tech.bsdb.tools.parquet;

import org.jspecify.annotations.NullMarked;
