/**
 * What every command that builds a database shares, wherever its records come from: the options for
 * the database, the report, and the end by a signal. The options for text input are here as well.
 */
@NullMarked
package tech.bsdb.tools.build;

import org.jspecify.annotations.NullMarked;
