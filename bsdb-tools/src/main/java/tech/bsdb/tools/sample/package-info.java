/** Sample data for {@code scripts/quickstart}. */
@NullMarked
package tech.bsdb.tools.sample;

import org.jspecify.annotations.NullMarked;
