/**
 * The files of a data lake: what inputs stand for, on local disks, on HDFS and on any other file
 * system that Hadoop's configuration knows, and the login that reaching them takes.
 *
 * <p>{@link tech.bsdb.tools.source.FileSources} is the way in. Local files are read without Hadoop:
 * no class of its configuration or file systems is loaded for them. What Hadoop throws becomes a
 * sentence for users here and nowhere else.
 */
@NullMarked
package tech.bsdb.tools.source;

import org.jspecify.annotations.NullMarked;
