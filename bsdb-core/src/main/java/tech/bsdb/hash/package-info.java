/** Maps keys to signatures and slots: the minimal perfect hash function and its checksum bits. */
@NullMarked
package tech.bsdb.hash;

import org.jspecify.annotations.NullMarked;
