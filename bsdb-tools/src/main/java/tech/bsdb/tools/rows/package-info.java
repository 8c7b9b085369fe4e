/**
 * Typed rows: values that are records in Avro's binary encoding, the schema of which is stored in
 * the database (FORMAT.md §6, docs/guides/rows.md).
 *
 * <p>{@link tech.bsdb.tools.rows.RowSchema} is that schema; readers and writers of rows receive
 * one. {@link tech.bsdb.tools.rows.RowJson} writes rows as JSON, {@link
 * tech.bsdb.tools.rows.RowFields} shows their columns one by one as bytes, and {@link
 * tech.bsdb.tools.rows.RowDecoder} makes objects of them. Nothing here depends on where rows come
 * from.
 */
@NullMarked
package tech.bsdb.tools.rows;

import org.jspecify.annotations.NullMarked;
