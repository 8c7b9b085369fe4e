/**
 * Opens databases where they lie: finds what an origin offers, brings its small files to a cache on
 * disk that processes share, and reads the others in ranges.
 */
@NullMarked
package tech.bsdb.mirror;

import org.jspecify.annotations.NullMarked;
