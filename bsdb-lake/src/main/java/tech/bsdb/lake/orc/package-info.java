/** Reads ORC files with Apache's library, whose files come through a file system of one file. */
@NullMarked
package tech.bsdb.lake.orc;

import org.jspecify.annotations.NullMarked;
