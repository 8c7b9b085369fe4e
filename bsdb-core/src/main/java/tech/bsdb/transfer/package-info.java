/**
 * Fetching remote databases, and sending databases. An {@link tech.bsdb.transfer.Origin} gives
 * access to the files of a remote directory; a {@link tech.bsdb.transfer.Consignment} is what is
 * sent to one. What arrives or leaves is verified page by page.
 */
@NullMarked
package tech.bsdb.transfer;

import org.jspecify.annotations.NullMarked;
