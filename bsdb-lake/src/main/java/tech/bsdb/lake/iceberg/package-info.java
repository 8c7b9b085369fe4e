/**
 * Snapshots of Iceberg tables. Iceberg's library plans the scan, reads the files and applies
 * deletes; {@link tech.bsdb.lake.iceberg.IcebergSource} opens them.
 */
@NullMarked
package tech.bsdb.lake.iceberg;

import org.jspecify.annotations.NullMarked;
