/**
 * Reads files and streams of Arrow's IPC format, version 4 and 5 of its metadata, from their bytes:
 * Arrow's own library needs unsafe memory and a flag of the JVM.
 *
 * @see <a href="https://arrow.apache.org/docs/format/Columnar.html">the format</a>
 */
@NullMarked
package tech.bsdb.lake.arrow;

import org.jspecify.annotations.NullMarked;
