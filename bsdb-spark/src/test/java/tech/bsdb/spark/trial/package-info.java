/** Measures writes, for {@code scripts/compare-spark}. */
@NullMarked
package tech.bsdb.spark.trial;

import org.jspecify.annotations.NullMarked;
