/**
 * A store that follows a distant one: its thread, its pauses and what they say about themselves.
 */
@NullMarked
package tech.bsdb.tools.follow;

import org.jspecify.annotations.NullMarked;
