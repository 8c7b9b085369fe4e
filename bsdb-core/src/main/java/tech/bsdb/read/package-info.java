/** Embedded readers with fixed parameters, thin over {@code tech.bsdb.lookup}. */
@NullMarked
package tech.bsdb.read;

import org.jspecify.annotations.NullMarked;
