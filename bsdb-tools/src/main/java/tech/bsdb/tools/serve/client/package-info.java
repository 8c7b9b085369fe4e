/**
 * What protects the server from its clients, whatever protocol they speak: bounds on connections,
 * on lookups in flight and on memory, credentials, and the connections themselves.
 */
@NullMarked
package tech.bsdb.tools.serve.client;

import org.jspecify.annotations.NullMarked;
