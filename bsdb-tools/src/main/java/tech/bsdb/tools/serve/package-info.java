/**
 * The HTTP service: from bytes on a socket to lookups and back. {@link
 * tech.bsdb.tools.serve.Service} opens what is served and listens; {@link
 * tech.bsdb.tools.serve.HttpConnection} is one connection, whose requests become {@link
 * tech.bsdb.tools.serve.Exchange}s that {@link tech.bsdb.tools.serve.Routes} has answered, in
 * order.
 */
@NullMarked
package tech.bsdb.tools.serve;

import org.jspecify.annotations.NullMarked;
