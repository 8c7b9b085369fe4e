/**
 * The comparison with other stores: each store builds, verifies and answers the same data in
 * processes of its own, taking turns. Never part of a jar; {@code scripts/compare-stores} runs it.
 */
@NullMarked
package tech.bsdb.bench.compare;

import org.jspecify.annotations.NullMarked;
