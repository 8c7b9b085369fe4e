/**
 * Conditions on rows, as users write them after {@code WHERE} in SQL (docs/guides/parquet.md).
 *
 * <p>{@link tech.bsdb.tools.where.Condition} is what was written, without negations: whoever skips
 * whole files or parts of them translates it. Bound to the types of columns, it becomes a {@link
 * tech.bsdb.tools.where.RowTest}, which is evaluated for rows, or for what is known of many rows.
 * Nothing here depends on where rows come from.
 */
@NullMarked
package tech.bsdb.tools.where;

import org.jspecify.annotations.NullMarked;
