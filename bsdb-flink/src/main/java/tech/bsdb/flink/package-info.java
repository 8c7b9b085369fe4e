/**
 * The connector {@code bsdb} for tables of Flink: {@link tech.bsdb.flink.BsdbTableFactory} makes
 * tables of {@code CREATE TABLE}, {@code lookup} reads them, {@code sink} writes them, {@code rows}
 * converts their rows, and {@code place} finds their files.
 */
@NullMarked
package tech.bsdb.flink;

import org.jspecify.annotations.NullMarked;
