/**
 * The {@code bsdb} command line: {@link tech.bsdb.tools.Main} dispatches to the commands, {@link
 * tech.bsdb.tools.Builder} builds databases, and {@code inspect} has the commands that examine one.
 */
@NullMarked
package tech.bsdb.tools;

import org.jspecify.annotations.NullMarked;
