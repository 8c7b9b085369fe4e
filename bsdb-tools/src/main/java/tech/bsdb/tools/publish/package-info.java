/**
 * Versions on their way: the commands {@code publish}, {@code push}, {@code pull}, {@code rollback}
 * and {@code versions}, the checks that a new version must pass, and the thread that pulls while a
 * store is served.
 *
 * <p>{@link tech.bsdb.tools.publish.DistantStore} is a store on HDFS, S3 or another file system;
 * {@link tech.bsdb.tools.publish.Delivery} sends files to it: first the files, then the manifests,
 * and last the pointer to the current version. Both retry what fails by {@link
 * tech.bsdb.tools.publish.Attempts}.
 */
@NullMarked
package tech.bsdb.tools.publish;

import org.jspecify.annotations.NullMarked;
