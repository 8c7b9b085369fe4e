/**
 * The wire format of batch requests: the keys of the body, and the lines or frames of the answer.
 * Pure: bytes in, bytes out, no sockets or files.
 */
@NullMarked
package tech.bsdb.tools.serve.batch;

import org.jspecify.annotations.NullMarked;
