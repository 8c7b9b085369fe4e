/** Parallel work with results in a fixed order. Uses the JDK only. */
@NullMarked
package tech.bsdb.work;

import org.jspecify.annotations.NullMarked;
