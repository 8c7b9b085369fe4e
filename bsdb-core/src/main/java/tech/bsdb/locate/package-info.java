/** What a lookup reads: one locator for each kind of database joins hash, index and data. */
@NullMarked
package tech.bsdb.locate;

import org.jspecify.annotations.NullMarked;
