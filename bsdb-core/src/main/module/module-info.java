/**
 * An immutable key-value store: build a database from a complete set of records, open it, and look up keys.
 */
module tech.bsdb {
  exports tech.bsdb;
  exports tech.bsdb.error;
  exports tech.bsdb.read;
  exports tech.bsdb.remote;
  exports tech.bsdb.store;
  exports tech.bsdb.transfer;

  uses tech.bsdb.remote.OriginProvider;

  requires static org.jspecify;
  requires java.net.http;
  requires jdk.unsupported;
  requires org.slf4j;
  requires com.github.luben.zstd_jni;
  requires it.unimi.dsi.fastutil;
  requires it.unimi.dsi.sux4j;
}
