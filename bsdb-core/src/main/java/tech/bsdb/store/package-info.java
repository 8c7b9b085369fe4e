/**
 * Versions of a database: a {@link tech.bsdb.store.Store} is a directory of them with one current,
 * {@link tech.bsdb.store.Publication} brings a new one there, and a {@link
 * tech.bsdb.store.ReloadingDatabase} serves whichever is current.
 */
@NullMarked
package tech.bsdb.store;

import org.jspecify.annotations.NullMarked;
