/**
 * The commands for stores of versions: {@code publish}, {@code rollback}, {@code versions}, and the
 * checks that a new version has to stand.
 */
@NullMarked
package tech.bsdb.tools.publish;

import org.jspecify.annotations.NullMarked;
