/** The order of keys: a tree of all keys in ascending order, each with its record's address. */
@NullMarked
package tech.bsdb.order;

import org.jspecify.annotations.NullMarked;
