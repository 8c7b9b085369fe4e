package tech.bsdb.tools.serve;

import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.serve.batch.Projection;

/** Answers with the value of one key. */
record KeyLookup(Lookups lookups, byte[] key, @Nullable Projection fields, Conditions conditions)
    implements Action {
  @Override
  public void start(Exchange exchange) {
    lookups.get(exchange, key, fields, conditions);
  }

  @Override
  public boolean overlaps() {
    return lookups.overlap();
  }
}
