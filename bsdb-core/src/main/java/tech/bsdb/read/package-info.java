/** The one way of a look-up (signature, slot, address, record) and the reader built on it. */
@NullMarked
package tech.bsdb.read;

import org.jspecify.annotations.NullMarked;
