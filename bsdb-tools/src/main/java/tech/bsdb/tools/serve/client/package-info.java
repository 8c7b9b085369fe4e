/**
 * What protects the server from its clients, whatever protocol they speak: bounds on connections,
 * on lookups in flight and on memory, and credentials.
 */
@NullMarked
package tech.bsdb.tools.serve.client;

import org.jspecify.annotations.NullMarked;
