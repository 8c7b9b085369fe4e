/**
 * Formats of typed rows whose libraries are large. Each has a package of its own and a {@link
 * tech.bsdb.tools.table.TableSource} that the service loader finds.
 */
@NullMarked
package tech.bsdb.lake;

import org.jspecify.annotations.NullMarked;
