package tech.bsdb.bench.compare;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.commons.cli.CommandLine;
import org.apache.commons.cli.DefaultParser;
import org.apache.commons.cli.Option;
import org.apache.commons.cli.Options;
import org.apache.commons.cli.ParseException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.bench.compare.LapsInTurn.Contender;
import tech.bsdb.bench.compare.LapsInTurn.Kind;

/**
 * The duel with Sparkey and cdb: {@link LapsInTurn} over several numbers of records, with all files
 * in pages of the same size, and ratios beside those aimed at. Where a store cannot read in place
 * or in batches, its single gets are compared.
 */
final class Duel {
  /** Up to this number of records, stores are in the processor's caches. */
  private static final int HOT_RECORDS = 100_000;

  /** A ratio of rates aimed at. */
  private record Goal(int records, String layout, Kind kind, String rival, double ratio) {}

  private static final List<Goal> GOALS =
      List.of(
          new Goal(10_000, "packed", Kind.HOT, "cdb", 0.9),
          new Goal(10_000, "packed", Kind.HOT_READ, "cdb", 1.0),
          new Goal(10_000, "packed", Kind.PRESENT, "cdb", 0.9),
          new Goal(10_000, "packed", Kind.READ, "cdb", 1.0),
          new Goal(10_000_000, "packed", Kind.PRESENT, "cdb", 1.25),
          new Goal(10_000_000, "packed", Kind.PRESENT, "sparkey", 1.6),
          new Goal(10_000_000, "packed", Kind.HALF, "cdb", 1.15),
          new Goal(10_000_000, "packed", Kind.HALF, "sparkey", 1.25),
          new Goal(10_000_000, "packed", Kind.LARGE_BATCH, "cdb", 2.5),
          new Goal(10_000_000, "packed", Kind.READ_BATCH, "cdb", 2.5),
          new Goal(10_000_000, "blocked", Kind.PRESENT, "sparkey", 1.25),
          new Goal(100_000_000, "packed", Kind.PRESENT, "sparkey", 1.3));

  private final CommandLine options;
  private final StringBuilder report = new StringBuilder();

  private Duel(CommandLine options) {
    this.options = options;
  }

  /** Runs the duel. */
  public static void main(String[] args) throws Exception {
    Options known =
        new Options()
            .addOption(option("records", "comma-separated numbers of records (10000,10000000)"))
            .addOption(option("stores", "comma-separated stores"))
            .addOption(option("pages", "huge or small (huge)"))
            .addOption(option("rounds", "number of rounds (21)"))
            .addOption(option("work", "directory for data and stores"))
            .addOption(option("out", "text file for the report"));
    try {
      CommandLine options = new DefaultParser().parse(known, args);
      new Duel(options).run();
    } catch (ParseException | IllegalArgumentException e) {
      System.err.println("compare-stores: " + e.getMessage());
      System.exit(2);
    }
  }

  private static Option option(String name, String description) {
    return Option.builder().longOpt(name).hasArg().desc(description).get();
  }

  private void run() throws Exception {
    String pages = options.getOptionValue("pages", "huge");
    String rounds = options.getOptionValue("rounds", "21");
    String sizes = options.getOptionValue("records", "10000,10000000");
    String stores = options.getOptionValue("stores", "bsdb packed,bsdb blocked,sparkey,cdb");
    say(
        "command: scripts/compare-stores duel --records %s --stores \"%s\" --pages %s --rounds %s",
        sizes, stores, pages, rounds);
    say("commit: %s", Machine.commit());
    Machine.facts().forEach((name, fact) -> say("%s: %s", name, fact));
    say("JDK: %s", Machine.jdk(Path.of(System.getProperty("java.home"))));
    say("load: %.2f", Machine.load());
    for (String records : sizes.split(",", 0)) {
      compare(
          Integer.parseInt(records),
          stores.split(",", 0),
          PageSize.named(pages),
          Integer.parseInt(rounds));
      if (options.hasOption("out")) {
        Files.writeString(Path.of(options.getOptionValue("out")), report);
      }
    }
  }

  private void say(String format, Object... arguments) {
    String line = String.format(Locale.ROOT, format, arguments) + "\n";
    System.out.print(line);
    report.append(line);
  }

  private void compare(int records, String[] stores, PageSize pages, int rounds) throws Exception {
    try (LapsInTurn laps =
        new LapsInTurn(records, Path.of(options.getOptionValue("work")), pages)) {
      for (String store : stores) {
        laps.open(store);
      }
      say("%n%,d records, %d rounds", records, rounds);
      laps.checkAll().forEach(line -> say("%s", line));
      EnumSet<Kind> kinds =
          EnumSet.of(
              Kind.PRESENT,
              Kind.READ,
              Kind.HALF,
              Kind.LARGE_BATCH,
              Kind.READ_BATCH,
              Kind.HALF_BATCH);
      if (records <= HOT_RECORDS) {
        kinds.add(Kind.HOT);
        kinds.add(Kind.HOT_READ);
      }
      Map<Kind, double[][]> nanos = laps.run(kinds, rounds);
      int longest =
          laps.contenders().stream().mapToInt(each -> each.name().length()).max().orElse(0);
      String column = "%-" + longest + "s";
      say("%nnanoseconds of processor time per key: median (deciles)");
      for (Kind kind : kinds) {
        for (int i = 0; i < laps.contenders().size(); i++) {
          if (kind.suits(laps.contenders().get(i))) {
            Spread lap = Spread.of(nanos.get(kind)[i]);
            say(
                "%-25s %-14s %6.1f (%.1f to %.1f)",
                kind.title(), laps.contenders().get(i).name(), lap.median(), lap.low(), lap.high());
          }
        }
      }
      say("%nratios of rates within a round, above 1 if the first is faster: median (deciles)");
      for (Kind kind : kinds) {
        for (int i = 0; i < laps.contenders().size(); i++) {
          for (int j = 0; j < laps.contenders().size(); j++) {
            sayRatio(records, laps.contenders(), nanos, column, kind, i, j);
          }
        }
      }
    }
  }

  /** Compares a bsdb database with another store, or with the first database. */
  private void sayRatio(
      int records,
      List<Contender> contenders,
      Map<Kind, double[][]> nanos,
      String column,
      Kind kind,
      int i,
      int j) {
    Contender one = contenders.get(i);
    Contender other = contenders.get(j);
    boolean database = other.reader() instanceof BsdbStore.BsdbReader;
    if (i == j || database && j > 0 || !(one.reader() instanceof BsdbStore.BsdbReader reader)) {
      return;
    }
    Spread ratio = Spread.ofRates(nanos.get(kind)[i], nanos.get(kind.counterpart(other))[j]);
    Double goal = goal(records, reader.layout(), kind, other.name());
    say(
        "%-25s " + column + " / " + column + " %.2f (%.2f to %.2f)%s",
        kind.title(),
        one.name(),
        other.name(),
        ratio.median(),
        ratio.low(),
        ratio.high(),
        goal == null
            ? ""
            : String.format(
                Locale.ROOT, "  goal %.2f: %s", goal, ratio.median() >= goal ? "yes" : "NO"));
  }

  private static @Nullable Double goal(int records, String layout, Kind kind, String rival) {
    for (Goal goal : GOALS) {
      if (goal.records == records
          && goal.layout.equals(layout)
          && goal.kind == kind
          && goal.rival.equals(rival)) {
        return goal.ratio;
      }
    }
    return null;
  }
}
