/** What is thrown for bad bytes, unreadable formats and duplicate keys. Uses nothing of bsdb. */
@NullMarked
package tech.bsdb.error;

import org.jspecify.annotations.NullMarked;
