/** Walks over whole databases: verifies one of them, or compares the records of two. */
@NullMarked
package tech.bsdb.check;

import org.jspecify.annotations.NullMarked;
