package tech.bsdb.tools.make;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tech.bsdb.LayoutPlan;
import tech.bsdb.tools.make.PlanCommand.PlanRow;

/**
 * The exact layout to choose, by the rules in docs/guides/layouts.md ("Which layout?"). Approximate
 * mode is never recommended, because it may answer absent keys.
 *
 * @param layout the layout
 * @param reason why, as the end of a sentence
 */
record Recommendation(PlannedLayout layout, String reason) {
  /** Compression must save so much of the smallest other database. */
  private static final double WORTH_COMPRESSING = 0.5;

  /**
   * Pages that a lookup in a packed database may read, for its longer reads not to outweigh that
   * they are fewer: "Long values" in docs/BENCHMARKS.md.
   */
  private static final int MOST_PAGES = 32;

  /** Padding must take so much of a blocked database. */
  private static final double WORTH_COMPACTING = 0.1;

  /** Returns the recommendation, or null if no exact layout can hold the records. */
  static @Nullable Recommendation of(List<PlanRow> rows, double missRate) {
    PlanRow blocked = row(rows, PlannedLayout.BLOCKED);
    PlanRow packed = row(rows, PlannedLayout.PACKED);
    PlanRow compact = row(rows, PlannedLayout.COMPACT);
    PlanRow compressed = row(rows, PlannedLayout.COMPRESSED);
    double smallest = Math.min(bytes(blocked), Math.min(bytes(packed), bytes(compact)));
    if (compressed.sized() && bytes(compressed) < (1 - WORTH_COMPRESSING) * smallest) {
      return new Recommendation(
          PlannedLayout.COMPRESSED, "it takes less than half the disk of any other exact layout");
    }
    LayoutPlan bins = packed.plan();
    LayoutPlan addressed = blocked.plan();
    if (bins != null
        && addressed != null
        && !bins.options().orderedKeys()
        && bins.presentPages() <= MOST_PAGES
        && packed.reads(missRate) < blocked.reads(missRate)) {
      return new Recommendation(
          PlannedLayout.PACKED,
          String.format(
              Locale.ROOT,
              "a lookup makes %.2f reads instead of %.2f, and touches %s of memory instead of %s",
              packed.reads(missRate),
              blocked.reads(missRate),
              PlanTable.bytes(bins.lookupMemoryBytes()),
              PlanTable.bytes(addressed.lookupMemoryBytes())));
    }
    if (addressed != null && bytes(compact) < (1 - WORTH_COMPACTING) * bytes(blocked)) {
      return new Recommendation(
          PlannedLayout.COMPACT,
          String.format(
              Locale.ROOT,
              "the unused ends of pages would take %.0f %% of a blocked database",
              100 * (1 - bytes(compact) / bytes(blocked))));
    }
    if (addressed != null) {
      return new Recommendation(PlannedLayout.BLOCKED, whyNotPacked(bins, addressed));
    }
    return bins == null
        ? null
        : new Recommendation(PlannedLayout.PACKED, "no other exact layout can hold the records");
  }

  private static String whyNotPacked(@Nullable LayoutPlan bins, LayoutPlan addressed) {
    if (bins == null) {
      return "packed cannot hold the records";
    }
    if (bins.options().orderedKeys()) {
      return "its ranges take a third of the time of packed ones";
    }
    return bins.presentPages() > MOST_PAGES
        ? String.format(
            Locale.ROOT,
            "records are long: packed would read %.0f pages a lookup instead of %.0f",
            bins.presentPages(),
            addressed.presentPages())
        : "most keys are absent, and checksum bits reject nearly all of these without a read";
  }

  private static PlanRow row(List<PlanRow> rows, PlannedLayout layout) {
    return rows.stream().filter(row -> row.layout() == layout).findFirst().orElseThrow();
  }

  private static double bytes(PlanRow row) {
    LayoutPlan plan = row.plan();
    return plan == null ? Double.POSITIVE_INFINITY : (double) plan.databaseBytes();
  }
}
