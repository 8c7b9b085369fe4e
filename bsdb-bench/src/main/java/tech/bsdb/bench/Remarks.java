package tech.bsdb.bench;

import java.util.ArrayList;
import java.util.List;

/** Remarks needed to interpret the figures correctly. */
final class Remarks {
  private static final double KEPT_UP = 0.99;

  private Remarks() {}

  /** Returns remarks on one point, in whole sentences; empty if all is well. */
  static List<String> on(Point point, Report report) {
    List<String> remarks = new ArrayList<>();
    if (point.errors() > 0) {
      remarks.add(Quantity.count(point.errors()) + " lookups failed: " + point.firstError() + ".");
    }
    if (point.missing() > 0) {
      remarks.add(
          Quantity.count(point.missing())
              + " lookups did not find a key that "
              + report.keys().source()
              + " has.");
    }
    if (point.mistaken() > 0) {
      remarks.add(
          Quantity.count(point.mistaken())
              + " lookups of absent keys got a value"
              + (report.database().approximateWidth() > 0
                  ? ", as an approximate database does for a share of them."
                  : "."));
    }
    double rate = report.options().rate();
    if (rate > 0 && (point.notSent() > 0 || point.lookupsPerSecond() < KEPT_UP * rate)) {
      remarks.add(
          "The rate was not sustained: "
              + Quantity.count(point.notSent())
              + " lookups that were due were never sent. The latencies of an overloaded open loop only"
              + " show how long it ran.");
    }
    return remarks;
  }
}
