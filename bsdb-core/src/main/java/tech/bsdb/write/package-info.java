/**
 * The build pipeline: records in, sorted signatures, solved buckets, files out, atomic publication.
 */
@NullMarked
package tech.bsdb.write;

import org.jspecify.annotations.NullMarked;
