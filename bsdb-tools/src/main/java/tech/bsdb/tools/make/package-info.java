/**
 * What the commands that make databases share: the options of sources and targets, the build and
 * the merge, their reports, and {@code plan}, which tells sizes before anything is built. The sizes
 * come from {@link tech.bsdb.LayoutPlan}, the rates from measurements.
 */
@NullMarked
package tech.bsdb.tools.make;

import org.jspecify.annotations.NullMarked;
