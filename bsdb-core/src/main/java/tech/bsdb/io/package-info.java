/**
 * Extents to bytes: whole pages of immutable files, mapped, buffered, from the device (direct,
 * io_uring) or loaded into memory; one at a time or in queues. Knows no records.
 */
@NullMarked
package tech.bsdb.io;

import org.jspecify.annotations.NullMarked;
