/**
 * Reads extents, runs of whole pages of immutable files: memory-mapped, buffered, straight from the
 * device (direct, io_uring) or loaded into memory; one at a time or through queues. Also runs tasks
 * on several threads whose results come in order. Does not depend on the record format.
 */
@NullMarked
package tech.bsdb.io;

import org.jspecify.annotations.NullMarked;
