/** The data sets of a service: where they are, their names and numbers, and how they change. */
@NullMarked
package tech.bsdb.tools.serve.dataset;

import org.jspecify.annotations.NullMarked;
