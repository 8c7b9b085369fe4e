/**
 * The {@code bsdb} command line: {@link tech.bsdb.tools.Main} finds the command, {@link
 * tech.bsdb.tools.Builder} builds databases, the commands that look into one are in {@code
 * inspect}.
 */
@NullMarked
package tech.bsdb.tools;

import org.jspecify.annotations.NullMarked;
