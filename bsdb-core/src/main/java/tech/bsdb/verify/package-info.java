/** Verification of a whole database, without its source. */
@NullMarked
package tech.bsdb.verify;

import org.jspecify.annotations.NullMarked;
