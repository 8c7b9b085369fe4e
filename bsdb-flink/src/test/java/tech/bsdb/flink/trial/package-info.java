/** Measurements, which docs/guides/flink.md gives the figures of. */
@NullMarked
package tech.bsdb.flink.trial;

import org.jspecify.annotations.NullMarked;
