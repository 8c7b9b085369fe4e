/**
 * Text as bytes: UTF-8 validation, and JSON processing without intermediate strings or trees.
 * Depends on no other package of bsdb.
 */
@NullMarked
package tech.bsdb.tools.text;

import org.jspecify.annotations.NullMarked;
