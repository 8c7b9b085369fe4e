/**
 * The {@code bsdb plan} command: what a database takes in each layout, before it is built. Sizes
 * come from {@link tech.bsdb.LayoutPlan}, rates from measurements.
 */
@NullMarked
package tech.bsdb.tools.plan;

import org.jspecify.annotations.NullMarked;
