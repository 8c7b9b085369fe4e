/**
 * Lookups. A locator joins hash, index and data for one kind of database: it names the places to
 * read for a key. A driver reads them: for one key, a batch, or many keys at once.
 */
@NullMarked
package tech.bsdb.lookup;

import org.jspecify.annotations.NullMarked;
