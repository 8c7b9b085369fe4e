/** The single lookup path, shared by every reader: signature, slot, address, record. */
@NullMarked
package tech.bsdb.lookup;

import org.jspecify.annotations.NullMarked;
