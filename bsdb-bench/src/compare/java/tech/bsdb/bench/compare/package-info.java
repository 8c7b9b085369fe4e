/**
 * The comparison with other stores. The stores take turns building, verifying and reading the same
 * data in separate processes. Never part of a jar; {@code scripts/compare-stores} runs it.
 */
@NullMarked
package tech.bsdb.bench.compare;

import org.jspecify.annotations.NullMarked;
