/** Extents to bytes: whole pages of immutable files, mapped or buffered. Knows no records. */
@NullMarked
package tech.bsdb.io;

import org.jspecify.annotations.NullMarked;
