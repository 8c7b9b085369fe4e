/** The index: maps slots to record addresses, or to values in approximate mode. */
@NullMarked
package tech.bsdb.index;

import org.jspecify.annotations.NullMarked;
