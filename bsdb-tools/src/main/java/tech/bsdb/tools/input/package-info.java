/**
 * Where records come from: text lines, CSV and JSON lines in files, directories and standard input.
 *
 * <p>{@link tech.bsdb.tools.input.Input} is the way in. Whatever the format, the way of a record is
 * the same: a file's bytes (decompressed, in UTF-8) are cut into chunks of whole records, workers
 * parse the chunks, and the calling thread takes the chunks' records in the order of the input.
 */
@NullMarked
package tech.bsdb.tools.input;

import org.jspecify.annotations.NullMarked;
