/**
 * The commands that look into a database: {@code get}, {@code scan}, {@code stat}, {@code verify}.
 */
@NullMarked
package tech.bsdb.tools.inspect;

import org.jspecify.annotations.NullMarked;
