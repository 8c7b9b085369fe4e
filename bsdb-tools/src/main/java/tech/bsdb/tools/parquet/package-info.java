/**
 * Parquet files as records: a key made of columns, and a value that is a column's bytes or the row
 * in Avro's binary encoding.
 *
 * <p>{@link tech.bsdb.tools.parquet.ParquetRecords} is the way in. Data flows one way: footers make
 * {@link tech.bsdb.tools.parquet.RowType types}, which are merged over all files into the schema;
 * then workers read row groups, and encode them row by row, column readers in, bytes out; the
 * calling thread takes the rows in the order of the input.
 */
@NullMarked
package tech.bsdb.tools.parquet;

import org.jspecify.annotations.NullMarked;
