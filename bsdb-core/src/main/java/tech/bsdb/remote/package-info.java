/**
 * Databases read in place: on an object store, a distributed file system or a web server. Their
 * small files are copied to a cache on disk; of the others, lookups read ranges.
 */
@NullMarked
package tech.bsdb.remote;

import org.jspecify.annotations.NullMarked;
