package tech.bsdb.tools.make;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tech.bsdb.LayoutPlan;
import tech.bsdb.tools.make.PlanCommand.PlanRow;
import tech.bsdb.tools.make.PlanCommand.Question;

/**
 * Formats a plan for people: a row for each layout, what the columns mean, and a recommendation.
 */
final class PlanTable {
  private static final String UNKNOWN = "-";

  private static final int PAGE = 4096;

  private static final List<String> SIZES =
      List.of("layout", "disk", "B/record", "memory", "bits/record", "page cache", "heap");

  private static final List<String> COSTS =
      List.of(
          "layout",
          "temporary",
          "disk in all",
          "build memory",
          "build",
          "reads",
          "warm/s",
          "device/s");

  private static final List<String> REQUESTS =
      List.of("layout", "at open", "requests", "bytes/lookup", "USD/million");

  private PlanTable() {}

  static String of(Question question, List<PlanRow> rows, Recommendation recommendation) {
    List<List<String>> sizes = new ArrayList<>();
    List<List<String>> costs = new ArrayList<>();
    List<List<String>> requests = new ArrayList<>();
    sizes.add(SIZES);
    costs.add(COSTS);
    requests.add(REQUESTS);
    StringBuilder notes = new StringBuilder();
    String options = "";
    for (PlanRow row : rows) {
      LayoutPlan plan = row.plan();
      notes.append(note(question, row));
      if (plan != null) {
        sizes.add(sizes(question, row, plan));
        costs.add(costs(question, row, plan));
        requests.add(requests(question, row, plan));
        if (row.layout() == recommendation.layout()) {
          options = row.buildOptions(plan, question.valueBytes());
        }
      }
    }
    return title(question)
        + "\n\n"
        + aligned(sizes)
        + String.format(
            Locale.ROOT,
            """
            memory: what every lookup touches first: the hash function, %s; packed: the index, on the heap
            page cache: all that lookups read from files. heap: what an open database takes, at most
            """,
            PlannedLayout.word(question.base().hash()))
        + filterMeans(question)
        + orderMeans(question, rows)
        + "\n"
        + aligned(costs)
        + String.format(
            Locale.ROOT,
            """
            temporary, disk in all: while building, at most. build: estimate, %d thread%s
            build memory: of passes%s. Parsed lines take up to 6 MB a thread besides, and Java 80 MB
            reads: from the device for each lookup, with "memory" in memory. device/s: lookups/s, %s
            warm/s: lookups/s of one thread with all in memory, estimate
            Estimates come from docs/BENCHMARKS.md: %,d records of %d + %d bytes, 2 cores.
            """,
            question.base().threads(),
            question.base().threads() == 1 ? "" : "s",
            question.base().orderedKeys()
                ? ", if keys are random bytes; else up to %d MB (-ps)"
                    .formatted(question.base().memoryBytes() >> 20)
                : "",
            question.deviceIops() == 0
                ? "needs --device-iops"
                : String.format(Locale.ROOT, "at %,d reads/s", question.deviceIops()),
            PlannedLayout.MEASURED_RECORDS,
            PlannedLayout.MEASURED_KEY,
            PlannedLayout.MEASURED_VALUE)
        + requestsMean(question, requests)
        + "\n"
        + notes
        + (notes.isEmpty() ? "" : "\n")
        + "Recommended: bsdb build "
        + options
        + "\n  because "
        + recommendation.reason();
  }

  private static String requestsMean(Question question, List<List<String>> requests) {
    StorePrice store = question.store();
    return store == null
        ? ""
        : "\n"
            + aligned(requests)
            + String.format(
                Locale.ROOT,
                """
                read where it lies, on %s: at open: copied from it once to the cache of the reader
                requests, bytes/lookup: on average; 0 for what a cache holds. USD/million: for a million
                lookups, at %.2f USD for a million requests; traffic to another region or out costs more
                """,
                store.name(),
                store.perMillion());
  }

  private static List<String> requests(Question question, PlanRow row, LayoutPlan plan) {
    StorePrice store = question.store();
    return List.of(
        row.layout().word(),
        bytes(plan.lookupMemoryBytes()),
        String.format(Locale.ROOT, "%.2f", row.reads(question.missRate())),
        bytes(Math.round(row.pages(question.missRate()) * PAGE)),
        store == null
            ? UNKNOWN
            : String.format(
                Locale.ROOT, "%.2f", store.perMillion() * row.reads(question.missRate())));
  }

  private static String filterMeans(Question question) {
    int bits = question.base().filterBits();
    return bits == 0
        ? ""
        : String.format(
            Locale.ROOT,
            """
            packed with a filter of %d bits: memory includes it, off the heap, for lookups that read
              from the device; lookups in mapped or loaded files do without it
            """,
            bits);
  }

  private static String orderMeans(Question question, List<PlanRow> rows) {
    if (!question.base().orderedKeys()) {
      return "";
    }
    List<String> sizes = new ArrayList<>();
    for (PlanRow row : rows) {
      LayoutPlan plan = row.plan();
      if (plan != null && !row.layout().compressed()) {
        sizes.add(
            "%s %s (%s)"
                .formatted(
                    row.layout().word(),
                    bytes(plan.orderBytes()),
                    perRecord((double) plan.orderBytes(), question)));
      }
    }
    return "disk: with the order of the keys, at most (B/record): "
        + String.join(", ", sizes)
        + "\n  if keys are random bytes; less if they begin alike. \"build\" is without the time for it\n";
  }

  private static String note(Question question, PlanRow row) {
    LayoutPlan plan = row.plan();
    String name = row.layout().word();
    if (plan == null) {
      return name + ": not possible, because " + row.impossible() + "\n";
    }
    if (!row.sized()) {
      return String.format(
          Locale.ROOT,
          """
          %s: the size depends on the data. Build a sample with %s and pass --ratio:
            (keyBytes + valueBytes) / dataBytes of bsdb stat --json. If nothing compresses: %s
          """,
          name,
          row.layout().buildOptions(question.valueBytes()),
          bytes(plan.databaseBytes()));
    }
    if (row.layout() == PlannedLayout.PACKED && plan.presentPages() > 1) {
      return "packed: records over 128 bytes span pages. In memory, present keys then take 1.0 to 1.2 times"
          + " as long\n  as in blocked, and absent ones 2 to 8 times; from the device, "
          + String.format(Locale.ROOT, "a read fetches %.1f pages\n", plan.presentPages());
    }
    return row.layout() == PlannedLayout.APPROXIMATE
        ? String.format(
            Locale.ROOT,
            "approximate: keeps no keys; %s another key's value (-cb %d)\n",
            question.base().checksumBits() == 0
                ? "every absent key gets"
                : String.format(
                    Locale.ROOT, "1 in %,d absent keys gets", 1L << question.base().checksumBits()),
            question.base().checksumBits())
        : "";
  }

  private static String title(Question question) {
    long raw = question.records() * ((long) question.keyBytes() + question.valueBytes());
    String misses =
        question.missRate() == 0
            ? "all lookups for present keys"
            : String.format(
                Locale.ROOT, "%s %% of lookups for absent keys", percent(question.missRate()));
    return String.format(
        Locale.ROOT,
        "%,d records of %,d + %,d bytes (%s of keys and values), %s",
        question.records(),
        question.keyBytes(),
        question.valueBytes(),
        bytes(raw),
        misses);
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.3f", 100 * share).replaceAll("\\.?0+$", "");
  }

  private static List<String> sizes(Question question, PlanRow row, LayoutPlan plan) {
    return List.of(
        row.layout().word(),
        row.sized() ? bytes(plan.databaseBytes()) : UNKNOWN,
        row.sized() ? perRecord((double) plan.databaseBytes(), question) : UNKNOWN,
        bytes(plan.lookupMemoryBytes()),
        perRecord(8.0 * plan.lookupMemoryBytes(), question),
        row.sized() ? bytes(plan.pageCacheBytes()) : UNKNOWN,
        bytes(plan.heapBytes()));
  }

  private static List<String> costs(Question question, PlanRow row, LayoutPlan plan) {
    String build =
        time(
            PlanCommand.wall(
                row.layout().buildProcessorSeconds(question.records(), question.base().hash()),
                question));
    boolean longer =
        PlannedLayout.longerThanMeasured(question.keyBytes(), question.valueBytes())
            && !build.equals(UNKNOWN);
    return List.of(
        row.layout().word(),
        bytes(plan.temporaryBytes()),
        row.sized() ? bytes(plan.peakDiskBytes()) : UNKNOWN,
        bytes(plan.buildMemoryBytes()),
        longer ? "> " + build : build,
        String.format(Locale.ROOT, "%.2f", row.reads(question.missRate())),
        rate(row.layout().warmPerSecond(question.missRate(), question.base().hash())),
        rate(PlanCommand.fromDevice(row, question)));
  }

  private static String aligned(List<List<String>> table) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : table) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = table.stream().mapToInt(cells -> cells.get(column).length()).max().orElse(0);
        String padding = " ".repeat(width - row.get(i).length());
        line.append(i == 0 ? row.get(i) + padding : "  " + padding + row.get(i));
      }
      text.append(line).append('\n');
    }
    return text.toString();
  }

  private static String perRecord(double amount, Question question) {
    return question.records() == 0
        ? UNKNOWN
        : String.format(Locale.ROOT, "%.2f", amount / question.records());
  }

  /** Bytes in decimal units. */
  static String bytes(long bytes) {
    return scaled((double) bytes, 1000, List.of(" B", " kB", " MB", " GB", " TB", " PB"));
  }

  /** A number of events, such as 1.41M. */
  static String rate(double number) {
    return Double.isNaN(number) ? UNKNOWN : scaled(number, 1000, List.of("", "K", "M", "G"));
  }

  /** A time, such as 4.7 s or 13 min. */
  static String time(double seconds) {
    if (Double.isNaN(seconds)) {
      return UNKNOWN;
    }
    if (seconds < 99.5) {
      return digits(seconds) + " s";
    }
    return seconds < 99.5 * 60 ? digits(seconds / 60) + " min" : digits(seconds / 3600) + " h";
  }

  private static String scaled(double number, double step, List<String> units) {
    double left = number;
    int unit = 0;
    while (left >= step - 0.5 && unit < units.size() - 1) {
      left /= step;
      unit++;
    }
    return (unit == 0 ? String.format(Locale.ROOT, "%.0f", left) : digits(left)) + units.get(unit);
  }

  /** Three significant digits. */
  private static String digits(double number) {
    String form = number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f";
    return String.format(Locale.ROOT, form, number);
  }
}
