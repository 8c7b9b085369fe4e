/** The directory of a database: its manifest, its files, and the engines that open them. */
@NullMarked
package tech.bsdb.directory;

import org.jspecify.annotations.NullMarked;
