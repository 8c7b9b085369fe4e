/** The connector for Trino: databases as tables, and lookups of their keys. */
@NullMarked
package tech.bsdb.trino;

import org.jspecify.annotations.NullMarked;
