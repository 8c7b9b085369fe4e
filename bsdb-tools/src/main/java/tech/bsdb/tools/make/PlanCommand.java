package tech.bsdb.tools.make;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.LayoutPlan;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Command;
import tech.bsdb.tools.cli.Console;
import tech.bsdb.tools.cli.JsonReport;
import tech.bsdb.tools.cli.UsageException;

/** {@code bsdb plan}: memory, disk, build time and reads of each layout, without building it. */
public final class PlanCommand extends Command {
  /** For the service loader. */
  public PlanCommand() {
    super("plan", "print what a database would take in each layout");
  }

  /** What the user asked. */
  record Question(
      long records,
      int keyBytes,
      int valueBytes,
      double missRate,
      long deviceIops,
      double ratio,
      @Nullable StorePrice store,
      BuildOptions base) {}

  @Override
  protected int run(Arguments arguments, Console console) throws Exception {
    Question question = question(arguments);
    List<PlanRow> rows = new ArrayList<>();
    for (PlannedLayout layout : PlannedLayout.values()) {
      rows.add(PlanRow.of(layout, question));
    }
    Recommendation recommendation = Recommendation.of(rows, question.missRate);
    if (recommendation == null) {
      throw new UsageException(
          "no layout holds so many bytes: %s; split the records over several databases"
              .formatted(rows.get(0).impossible()));
    }
    if (arguments.has("--json")) {
      JsonReport.print(console, forPrograms(question, rows, recommendation));
    } else {
      console.print(PlanTable.of(question, rows, recommendation));
    }
    return OK;
  }

  private static Question question(Arguments arguments) throws UsageException {
    for (String needed : List.of("--records", "--key-bytes", "--value-bytes")) {
      if (!arguments.has(needed)) {
        throw new UsageException(
            "missing "
                + needed
                + ": a plan needs the number of records and the lengths of key and value");
      }
    }
    BuildOptions base = BuildOptions.defaults();
    HashAlgorithm hash = arguments.choice("--hash", HashAlgorithm.class, base.hash());
    return new Question(
        arguments.number("--records", 0, LayoutPlan.MAX_RECORDS, 0),
        arguments.integer("--key-bytes", 0, RecordBatch.MAX_KEY_LENGTH, 0),
        arguments.integer("--value-bytes", 0, RecordBatch.MAX_VALUE_LENGTH, 0),
        arguments.decimal("--miss-rate", 0, 1, 0),
        arguments.number("--device-iops", 1, 1_000_000_000, 0),
        arguments.decimal("--ratio", 0.01, 100_000, 0),
        StorePrice.of(arguments),
        base.withChecksumBits(arguments.integer("-cb", 0, 32, base.checksumBits()))
            .withHash(hash)
            .withFilterBits(arguments.integer("--filter-bits", 0, 16, base.filterBits()))
            .withOrderedKeys(arguments.has("--ordered"))
            .withMemoryBytes(TargetOptions.memory(arguments))
            .withThreads(arguments.integer("--threads", 1, 256, base.threads())));
  }

  private static Map<String, @Nullable Object> forPrograms(
      Question question, List<PlanRow> rows, Recommendation recommendation) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("records", question.records);
    json.put("keyBytes", question.keyBytes);
    json.put("valueBytes", question.valueBytes);
    json.put("missRate", question.missRate);
    json.put("deviceIops", question.deviceIops == 0 ? null : question.deviceIops);
    json.put("compressionRatio", question.ratio == 0 ? null : question.ratio);
    StorePrice store = question.store;
    json.put("store", store == null ? null : store.name());
    json.put("storeUsdPerMillionRequests", store == null ? null : store.perMillion());
    json.put("checksumBits", question.base.checksumBits());
    json.put("hash", PlannedLayout.word(question.base.hash()));
    json.put("filterBits", question.base.filterBits());
    json.put("ordered", question.base.orderedKeys());
    json.put("memoryBytes", question.base.memoryBytes());
    json.put("threads", question.base.threads());
    Map<String, Object> measured = new LinkedHashMap<>();
    measured.put("records", PlannedLayout.MEASURED_RECORDS);
    measured.put("keyBytes", PlannedLayout.MEASURED_KEY);
    measured.put("valueBytes", PlannedLayout.MEASURED_VALUE);
    json.put("estimatesMeasuredWith", measured);
    json.put(
        "recordsLongerThanMeasured",
        PlannedLayout.longerThanMeasured(question.keyBytes, question.valueBytes));
    json.put("recommended", recommendation.layout().word());
    json.put("reason", recommendation.reason());
    List<Object> layouts = new ArrayList<>();
    for (PlanRow row : rows) {
      layouts.add(forPrograms(question, row));
    }
    json.put("layouts", layouts);
    return json;
  }

  private static Map<String, @Nullable Object> forPrograms(Question question, PlanRow row) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("layout", row.layout().word());
    json.put("possible", row.plan() != null);
    json.put("impossibleBecause", row.impossible());
    LayoutPlan plan = row.plan();
    if (plan == null) {
      return json;
    }
    json.put("buildOptions", row.buildOptions(plan, question.valueBytes));
    json.put("dataBytes", row.sized() ? plan.dataBytes() : null);
    json.put("hashBytes", plan.hashBytes());
    json.put("indexBytes", plan.indexBytes());
    json.put("filterBytes", plan.filterBytes());
    json.put("orderBytesAtMost", plan.orderBytes());
    json.put("databaseBytes", row.sized() ? plan.databaseBytes() : null);
    json.put(
        "databaseBytesPerRecord",
        row.sized() ? perRecord((double) plan.databaseBytes(), question.records) : null);
    json.put("databaseBytesIfNothingCompresses", row.sized() ? null : plan.databaseBytes());
    json.put("lookupMemoryBytes", plan.lookupMemoryBytes());
    json.put(
        "lookupMemoryBitsPerRecord", perRecord(8.0 * plan.lookupMemoryBytes(), question.records));
    json.put("pageCacheBytes", row.sized() ? plan.pageCacheBytes() : null);
    json.put("heapBytes", plan.heapBytes());
    json.put("temporaryBytesAtMost", plan.temporaryBytes());
    json.put("buildDiskBytesAtMost", row.sized() ? plan.peakDiskBytes() : null);
    json.put("buildMemoryBytes", plan.buildMemoryBytes());
    double processor = row.layout().buildProcessorSeconds(question.records, question.base.hash());
    json.put("estimatedBuildProcessorSeconds", known(processor));
    json.put("estimatedBuildSeconds", known(wall(processor, question)));
    json.put("readsPerPresentKey", plan.presentReads());
    json.put("readsPerAbsentKey", plan.absentReads());
    json.put("readsPerLookup", row.reads(question.missRate));
    json.put("pagesPerLookup", row.pages(question.missRate));
    json.put(
        "estimatedWarmLookupsPerSecond",
        rounded(row.layout().warmPerSecond(question.missRate, question.base.hash())));
    json.put("deviceLookupsPerSecond", rounded(fromDevice(row, question)));
    StorePrice store = question.store;
    if (store != null) {
      json.put("storeOpenBytes", plan.lookupMemoryBytes());
      json.put("storeUsdPerMillionLookups", store.perMillion() * row.reads(question.missRate));
    }
    return json;
  }

  /** Seconds of a build by the clock, from its processor seconds. */
  static double wall(double processorSeconds, Question question) {
    return processorSeconds / (question.base.threads() * PlannedLayout.MEASURED_USE);
  }

  /** Lookups per second that the device allows; NaN if unknown. */
  static double fromDevice(PlanRow row, Question question) {
    double reads = row.reads(question.missRate);
    return question.deviceIops == 0 || reads == 0 ? Double.NaN : question.deviceIops / reads;
  }

  private static @Nullable Double perRecord(double amount, long records) {
    return records == 0 ? null : amount / records;
  }

  private static @Nullable Double known(double number) {
    return Double.isNaN(number) ? null : number;
  }

  private static @Nullable Long rounded(double number) {
    return Double.isNaN(number) ? null : Math.round(number);
  }

  /**
   * One layout of a plan.
   *
   * @param layout the layout
   * @param plan its sizes, or null if it cannot hold the records
   * @param impossible why it cannot, otherwise null
   * @param sized whether the size of the data is known; it is not for a compressed database without
   *     a ratio, where {@code plan} assumes that nothing compresses
   */
  record PlanRow(
      PlannedLayout layout, @Nullable LayoutPlan plan, @Nullable String impossible, boolean sized) {
    private static final int MOST_FILES = 128;

    /** Plans a layout with as few data files as can hold the records. */
    static PlanRow of(PlannedLayout layout, Question question) {
      boolean sized = !layout.compressed() || question.ratio > 0;
      for (int files = 1; ; files *= 2) {
        try {
          BuildOptions options = layout.of(question.base.withDataFiles(files), question.valueBytes);
          LayoutPlan plan =
              LayoutPlan.of(
                  options,
                  question.records,
                  question.keyBytes,
                  question.valueBytes,
                  question.ratio);
          return new PlanRow(layout, plan, null, sized);
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
      int checksumBits = possible.options().checksumBits();
      HashAlgorithm hash = possible.options().hash();
      long memory = possible.options().memoryBytes();
      int threads = possible.options().threads();
      return layout.buildOptions(value)
          + (hash == PlannedLayout.DEFAULT_HASH ? "" : " --hash " + PlannedLayout.word(hash))
          + (checksumBits == BuildOptions.defaults().checksumBits() ? "" : " -cb " + checksumBits)
          + (possible.options().orderedKeys() ? " --ordered" : "")
          + (filterBits == 0 ? "" : " --filter-bits " + filterBits)
          + (files == 1 ? "" : " --data-files " + files)
          + (memory == TargetOptions.usualMemory() ? "" : " -ps " + (memory >> 20))
          + (threads == BuildOptions.defaults().threads() ? "" : " --threads " + threads);
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
}
