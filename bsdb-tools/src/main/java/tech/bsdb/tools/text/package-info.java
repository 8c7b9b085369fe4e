/**
 * Text as bytes: UTF-8 validation, JSON processing without intermediate strings or trees, and text
 * files beside the classes. Depends on no other package of bsdb.
 */
@NullMarked
package tech.bsdb.tools.text;

import org.jspecify.annotations.NullMarked;
