/**
 * Public API for building, opening, reading, scanning and verifying databases.
 *
 * <p>Reports, counts and statistics, here and in the other public packages, are records that bsdb
 * makes. Later versions may add components to them, so programs read them by name and neither
 * construct nor deconstruct them.
 */
@NullMarked
package tech.bsdb;

import org.jspecify.annotations.NullMarked;
