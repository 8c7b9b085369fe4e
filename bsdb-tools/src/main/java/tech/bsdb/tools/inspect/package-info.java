/**
 * The commands that read a database: {@code get}, {@code scan}, {@code stat}, {@code verify},
 * {@code warm}.
 */
@NullMarked
package tech.bsdb.tools.inspect;

import org.jspecify.annotations.NullMarked;
