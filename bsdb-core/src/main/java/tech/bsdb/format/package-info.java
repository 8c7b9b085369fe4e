/**
 * Bytes to values and back: pages, headers, footers, the manifest, record framing and address
 * packing. Opens no file.
 */
@NullMarked
package tech.bsdb.format;

import org.jspecify.annotations.NullMarked;
