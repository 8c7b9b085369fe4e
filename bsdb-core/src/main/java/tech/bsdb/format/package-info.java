/**
 * Encoding and decoding of the file format: pages, headers, footers, the manifest, record framing
 * and address packing. Opens no files.
 */
@NullMarked
package tech.bsdb.format;

import org.jspecify.annotations.NullMarked;
