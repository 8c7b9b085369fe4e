/** Reads Avro's object container files as a {@link tech.bsdb.tools.table.Table}. */
@NullMarked
package tech.bsdb.tools.avro;

import org.jspecify.annotations.NullMarked;
