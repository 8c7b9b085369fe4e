/**
 * What goes over the wire in a request for many keys: the keys of its body, and the lines or frames
 * of its answer. Pure: bytes in, bytes out, no socket and no file.
 */
@NullMarked
package tech.bsdb.tools.serve.batch;

import org.jspecify.annotations.NullMarked;
