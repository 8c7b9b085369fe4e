/** Parallel work whose results, or whose last steps, come in a fixed order. Uses the JDK only. */
@NullMarked
package tech.bsdb.work;

import org.jspecify.annotations.NullMarked;
