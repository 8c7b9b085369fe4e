/**
 * Maps keys to signatures and slots: the minimal perfect hash function and its checksum bits. All
 * that depends on the kind of function is behind {@link tech.bsdb.hash.HashKind}.
 */
@NullMarked
package tech.bsdb.hash;

import org.jspecify.annotations.NullMarked;
