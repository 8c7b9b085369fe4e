/**
 * Bytes as text: what UTF-8 is, and JSON in bytes, without a string or a tree in between. Knows
 * nothing of the rest.
 */
@NullMarked
package tech.bsdb.tools.text;

import org.jspecify.annotations.NullMarked;
