/**
 * Load tools that users run against their own databases. A run is a series of points, which vary
 * the number of threads or of lookups in flight. Each point is a warm-up and a measurement by
 * workers that share only the database.
 */
@NullMarked
package tech.bsdb.bench;

import org.jspecify.annotations.NullMarked;
