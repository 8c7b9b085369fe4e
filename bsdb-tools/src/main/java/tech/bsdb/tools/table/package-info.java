/**
 * Turns rows of any format into records: a key made of columns, and a value that is a column's
 * bytes or the row in Avro's binary encoding.
 *
 * <p>{@link tech.bsdb.tools.table.TableRecords} is the pipeline: workers read parts of the input,
 * and the calling thread takes their rows in input order. A format either encodes its rows itself
 * ({@link tech.bsdb.tools.table.PartReader}), as Parquet does, or is a {@link
 * tech.bsdb.tools.table.Table}, whose values {@link tech.bsdb.tools.table.ObjectEncoder} encodes.
 */
@NullMarked
package tech.bsdb.tools.table;

import org.jspecify.annotations.NullMarked;
