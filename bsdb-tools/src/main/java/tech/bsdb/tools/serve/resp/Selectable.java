package tech.bsdb.tools.serve.resp;

import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.tools.serve.dataset.DataSet;

/** A data set as Redis clients see it: one of the databases that they select. Thread-safe. */
final class Selectable {
  final RespService service;
  final DataSet set;
  private volatile @Nullable ServedVersion version;

  Selectable(RespService service, DataSet set) {
    this.service = service;
    this.set = set;
  }

  /** Returns what is known of an open version. */
  ServedVersion version(Database of) {
    ServedVersion known = version;
    if (known == null || known.database != of) {
      known = new ServedVersion(of, set.counts());
      version = known;
    }
    return known;
  }
}
