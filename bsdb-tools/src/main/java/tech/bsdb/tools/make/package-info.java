/**
 * Shared by all commands that build a database, from any source: the options for the database, the
 * report, and the response to signals. The options for text and Parquet input are here too.
 */
@NullMarked
package tech.bsdb.tools.make;

import org.jspecify.annotations.NullMarked;
