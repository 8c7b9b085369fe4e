/** Rows of Flink as typed rows (docs/guides/rows.md) and back, and the bytes of their keys. */
@NullMarked
package tech.bsdb.flink.rows;

import org.jspecify.annotations.NullMarked;
