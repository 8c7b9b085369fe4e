/**
 * The HTTP service, from bytes on a socket to lookups and back. {@link
 * tech.bsdb.tools.serve.Service} opens the database or store and listens; {@link
 * tech.bsdb.tools.serve.HttpConnection} is one connection, whose requests become {@link
 * tech.bsdb.tools.serve.Exchange}s; {@link tech.bsdb.tools.serve.Routes} finds the action that
 * answers each. Answers are written in order.
 */
@NullMarked
package tech.bsdb.tools.serve;

import org.jspecify.annotations.NullMarked;
