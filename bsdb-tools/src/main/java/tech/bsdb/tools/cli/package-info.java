/**
 * Shared by all commands: what each of them is, options, the three standard streams, signals, text
 * files beside the classes, and error messages.
 *
 * <p>A command declares a {@link tech.bsdb.tools.cli.Syntax}, parses its arguments into {@link
 * tech.bsdb.tools.cli.Arguments}, reads and writes through the {@link tech.bsdb.tools.cli.Console}
 * it is given, and throws what it cannot handle; {@code Main} turns that into one line and an exit
 * code.
 */
@NullMarked
package tech.bsdb.tools.cli;

import org.jspecify.annotations.NullMarked;
