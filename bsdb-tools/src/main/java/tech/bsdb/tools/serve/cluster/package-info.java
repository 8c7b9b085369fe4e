/** Servers that divide the keys among them: which node answers which slots, from a file. */
@NullMarked
package tech.bsdb.tools.serve.cluster;

import org.jspecify.annotations.NullMarked;
