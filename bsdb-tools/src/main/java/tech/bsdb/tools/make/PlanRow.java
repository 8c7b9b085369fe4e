package tech.bsdb.tools.make;

import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.LayoutPlan;

/**
 * One layout of a plan.
 *
 * @param layout the layout
 * @param plan its sizes, or null if it cannot hold the records
 * @param impossible why it cannot, otherwise null
 * @param sized whether the size of the data is known; it is not for a compressed database without a
 *     ratio, where {@code plan} assumes that nothing compresses
 */
record PlanRow(
    PlannedLayout layout, @Nullable LayoutPlan plan, @Nullable String impossible, boolean sized) {
  private static final int MOST_FILES = 128;

  /** Plans a layout with as few data files as can hold the records. */
  static PlanRow of(
      PlannedLayout layout, BuildOptions base, long records, int key, int value, double ratio) {
    boolean sized = !layout.compressed() || ratio > 0;
    for (int files = 1; ; files *= 2) {
      try {
        BuildOptions options = layout.of(base.withDataFiles(files), value);
        return new PlanRow(layout, LayoutPlan.of(options, records, key, value, ratio), null, sized);
      } catch (IllegalArgumentException e) {
        if (files == MOST_FILES) {
          return new PlanRow(layout, null, String.valueOf(e.getMessage()), sized);
        }
      }
    }
  }

  /** The options of {@code bsdb build} that build this database. */
  String buildOptions(LayoutPlan possible, int value) {
    int files = possible.options().dataFiles();
    int filterBits = possible.options().filterBits();
    HashAlgorithm hash = possible.options().hash();
    return layout.buildOptions(value)
        + (hash == PlannedLayout.DEFAULT_HASH ? "" : " --hash " + PlannedLayout.word(hash))
        + (possible.options().orderedKeys() ? " --ordered" : "")
        + (filterBits == 0 ? "" : " --filter-bits " + filterBits)
        + (files == 1 ? "" : " --data-files " + files);
  }

  /** Reads from the device of a lookup, on average; NaN if the layout is impossible. */
  double reads(double missRate) {
    return plan == null
        ? Double.NaN
        : (1 - missRate) * plan.presentReads() + missRate * plan.absentReads();
  }

  /** Pages of 4 KiB in these reads. */
  double pages(double missRate) {
    return plan == null
        ? Double.NaN
        : (1 - missRate) * plan.presentPages() + missRate * plan.absentPages();
  }
}
