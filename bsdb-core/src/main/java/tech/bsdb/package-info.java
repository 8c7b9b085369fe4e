/** Public API for building, opening, reading, scanning and verifying databases. */
@NullMarked
package tech.bsdb;

import org.jspecify.annotations.NullMarked;
