/** Lookup joins: tables of a task manager, the version that a subtask reads, and lookups. */
@NullMarked
package tech.bsdb.flink.lookup;

import org.jspecify.annotations.NullMarked;
