/**
 * Sources of records: text lines, CSV and JSON lines in files, directories and standard input.
 *
 * <p>{@link tech.bsdb.tools.input.Input} is the entry point. Every format follows the same path: a
 * file's bytes (decompressed, in UTF-8) are cut into chunks of whole records, workers parse the
 * chunks, and the calling thread takes their records in the order of the input.
 */
@NullMarked
package tech.bsdb.tools.input;

import org.jspecify.annotations.NullMarked;
