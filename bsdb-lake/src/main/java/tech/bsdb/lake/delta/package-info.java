/**
 * Snapshots of Delta Lake tables. Delta's Kernel reads the log and the files, applies deletion
 * vectors and maps columns; {@link tech.bsdb.lake.delta.DeltaSource} opens them.
 */
@NullMarked
package tech.bsdb.lake.delta;

import org.jspecify.annotations.NullMarked;
