/** The options of reading and writing, as users write them. */
@NullMarked
package tech.bsdb.spark.options;

import org.jspecify.annotations.NullMarked;
