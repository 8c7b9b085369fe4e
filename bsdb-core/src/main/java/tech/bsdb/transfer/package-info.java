/**
 * Bringing databases from elsewhere. An {@link tech.bsdb.transfer.Origin} gives access to the files
 * of a distant directory; what arrives is verified page by page.
 */
@NullMarked
package tech.bsdb.transfer;

import org.jspecify.annotations.NullMarked;
