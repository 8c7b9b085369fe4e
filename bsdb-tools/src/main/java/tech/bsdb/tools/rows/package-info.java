/**
 * Typed rows: values that are records in Avro's binary encoding, the schema of which is stored in
 * the database (FORMAT.md §6, OPERATIONS.md "Typed rows").
 *
 * <p>{@link tech.bsdb.tools.rows.RowSchema} is that schema; readers and writers of rows receive
 * one. Nothing here depends on where rows come from.
 */
@NullMarked
package tech.bsdb.tools.rows;

import org.jspecify.annotations.NullMarked;
