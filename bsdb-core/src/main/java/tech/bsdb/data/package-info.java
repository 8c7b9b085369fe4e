/**
 * Maps addresses to records: blocked, compact and compressed data files and the ZSTD dictionary.
 */
@NullMarked
package tech.bsdb.data;

import org.jspecify.annotations.NullMarked;
