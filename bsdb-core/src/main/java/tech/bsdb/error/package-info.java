/**
 * Exceptions for corrupt data, unsupported formats, duplicate keys and exhausted memory budgets.
 * Depends on no other package of bsdb.
 */
@NullMarked
package tech.bsdb.error;

import org.jspecify.annotations.NullMarked;
