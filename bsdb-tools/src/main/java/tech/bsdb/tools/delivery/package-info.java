/**
 * Writes versions to stores elsewhere, on HDFS, S3 and other file systems: the files, then the
 * manifests, and last the pointer to the current version.
 *
 * <p>{@link tech.bsdb.tools.delivery.DistantStore} is a store, {@link
 * tech.bsdb.tools.delivery.Delivery} sends files to it, and both try again what fails by {@link
 * tech.bsdb.tools.delivery.Attempts}.
 */
@NullMarked
package tech.bsdb.tools.delivery;

import org.jspecify.annotations.NullMarked;
