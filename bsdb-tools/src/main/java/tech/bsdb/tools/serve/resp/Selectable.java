package tech.bsdb.tools.serve.resp;

import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.store.Lease;
import tech.bsdb.tools.serve.client.LookupCounts;
import tech.bsdb.tools.serve.dataset.DataSet;

/** A data set as Redis clients see it: one of the databases that they select. Thread-safe. */
final class Selectable {
  private final RespService service;
  private final DataSet set;
  private volatile @Nullable ServedVersion version;

  Selectable(RespService service, DataSet set) {
    this.service = service;
    this.set = set;
  }

  RespService service() {
    return service;
  }

  /** Returns the number that stands for it. */
  int number() {
    return set.number();
  }

  DataSet set() {
    return set;
  }

  LookupCounts counts() {
    return set.counts();
  }

  /**
   * Leases the version being served.
   *
   * @throws tech.bsdb.tools.serve.dataset.DataSet.DataSetRemovedException if the data set is not
   *     served any more
   */
  Lease acquire() {
    return set.acquire();
  }

  /** Returns what is known of an open version. */
  ServedVersion version(Database of) {
    ServedVersion known = version;
    if (known == null || known.database() != of) {
      known = ServedVersion.of(of);
      version = known;
    }
    return known;
  }
}
