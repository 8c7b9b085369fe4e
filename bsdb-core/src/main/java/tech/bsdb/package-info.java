/** The public verbs: build, open, get, scan and verify a database, and their options. */
@NullMarked
package tech.bsdb;

import org.jspecify.annotations.NullMarked;
