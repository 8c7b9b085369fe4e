/**
 * Finds the files of inputs on local disks, on HDFS and on any other file system in Hadoop's
 * configuration, and logs in to reach them.
 *
 * <p>{@link tech.bsdb.tools.source.FileSources} is the entry point. Local files are read without
 * Hadoop: no class of its configuration or file systems is loaded for them. Only this package turns
 * Hadoop's exceptions into messages for users.
 */
@NullMarked
package tech.bsdb.tools.source;

import org.jspecify.annotations.NullMarked;
