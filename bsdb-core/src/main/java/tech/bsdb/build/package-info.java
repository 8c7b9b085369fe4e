/**
 * The one way of a build: records in, sorted signatures, solved buckets, files out, published at
 * once.
 */
@NullMarked
package tech.bsdb.build;

import org.jspecify.annotations.NullMarked;
