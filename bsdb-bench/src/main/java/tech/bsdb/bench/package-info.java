/**
 * Load tools that users run against their own databases. A run is a row of points (numbers of
 * threads, or of lookups in flight); each point is a warm-up and a measurement by workers that
 * share nothing but the database.
 */
@NullMarked
package tech.bsdb.bench;

import org.jspecify.annotations.NullMarked;
