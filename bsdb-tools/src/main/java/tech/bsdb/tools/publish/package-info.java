/**
 * The commands for stores of versions: {@code publish}, {@code rollback}, {@code versions}, and the
 * checks that a new version must pass.
 */
@NullMarked
package tech.bsdb.tools.publish;

import org.jspecify.annotations.NullMarked;
