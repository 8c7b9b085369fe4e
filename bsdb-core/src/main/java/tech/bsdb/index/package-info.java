/** Slot to record address, or slot to value in approximate mode. */
@NullMarked
package tech.bsdb.index;

import org.jspecify.annotations.NullMarked;
