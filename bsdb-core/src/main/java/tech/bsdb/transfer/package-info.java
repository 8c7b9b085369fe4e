/**
 * Bringing databases from elsewhere, and sending them there. An {@link tech.bsdb.transfer.Origin}
 * gives access to the files of a distant directory; a {@link tech.bsdb.transfer.Consignment} is
 * what is sent to one. What arrives or leaves is verified page by page.
 */
@NullMarked
package tech.bsdb.transfer;

import org.jspecify.annotations.NullMarked;
