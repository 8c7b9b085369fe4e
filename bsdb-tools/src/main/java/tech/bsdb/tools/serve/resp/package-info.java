/**
 * RESP, the protocol of Redis: reads commands, looks up the keys of pipelined commands together,
 * and writes replies as Redis 7 does (docs/REDIS.md).
 */
@NullMarked
package tech.bsdb.tools.serve.resp;

import org.jspecify.annotations.NullMarked;
