/** How lookups read: one key, a batch, or many at once, over any locator. */
@NullMarked
package tech.bsdb.lookup;

import org.jspecify.annotations.NullMarked;
