/**
 * Merging changes into a database, which gives a new one: the options, the keys to delete, and the
 * publication of the result.
 */
@NullMarked
package tech.bsdb.tools.merge;

import org.jspecify.annotations.NullMarked;
