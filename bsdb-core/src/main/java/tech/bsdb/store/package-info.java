/**
 * Versioned databases. A {@link tech.bsdb.store.Store} is a directory of versions, one of them
 * current; a {@link tech.bsdb.store.Publication} adds a new version; a {@link
 * tech.bsdb.store.ReloadingDatabase} serves the current one.
 */
@NullMarked
package tech.bsdb.store;

import org.jspecify.annotations.NullMarked;
