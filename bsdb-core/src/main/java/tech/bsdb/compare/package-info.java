/** Compares two databases: which records one has, and the other lacks or has with another value. */
@NullMarked
package tech.bsdb.compare;

import org.jspecify.annotations.NullMarked;
