/**
 * Embedded readers with fixed constructor parameters, thin wrappers around {@code
 * tech.bsdb.lookup}.
 */
@NullMarked
package tech.bsdb.read;

import org.jspecify.annotations.NullMarked;
