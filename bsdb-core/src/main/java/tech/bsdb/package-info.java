/**
 * Public API for building, opening, reading, scanning and verifying databases.
 *
 * <p>Reports, counts and statistics, here and in the other public packages, are records that bsdb
 * makes, and most options are records that start from {@code defaults()}. Later versions may add
 * components, so programs read them by name and neither call their constructors nor deconstruct
 * them.
 */
@NullMarked
package tech.bsdb;

import org.jspecify.annotations.NullMarked;
