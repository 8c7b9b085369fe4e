package tech.bsdb.tools.make;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static tech.bsdb.tools.CommandRun.bsdb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.Layout;
import tech.bsdb.tools.CommandRun;

class PlanCommandTest {
  @TempDir Path folder;

  private static CommandRun plan(long records, int key, int value, String... more) {
    List<String> line = new ArrayList<>(List.of("plan", "--records", records + ""));
    line.addAll(List.of("--key-bytes", key + "", "--value-bytes", value + ""));
    line.addAll(List.of(more));
    return bsdb(line.toArray(String[]::new));
  }

  private static JsonNode json(CommandRun run) throws Exception {
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.out()).hasLineCount(1);
    return new ObjectMapper().readTree(run.out());
  }

  private static JsonNode layout(JsonNode json, String name) {
    for (JsonNode layout : json.get("layouts")) {
      if (layout.get("layout").asText().equals(name)) {
        return layout;
      }
    }
    throw new AssertionError(name);
  }

  @Test
  void theTableHasARowForEachLayoutAndARecommendation() {
    CommandRun run = plan(1_000_000_000, 13, 32, "--miss-rate", "0.1", "--device-iops", "90000");

    assertThat(run.code()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith(
            "1,000,000,000 records of 13 + 32 bytes (45.0 GB of keys and values), 10 % of lookups"
                + " for absent keys\n")
        .containsPattern("\nblocked +57.0 GB +57.02 +81. MB +6.52 +57.0 GB ")
        .containsPattern("\npacked +50.7 GB +50.72 +28.0 MB +0.22 +50.7 GB ")
        .containsPattern("\nblocked +24.0 GB +81.1 GB .* 1.81 .* 49.7K\n")
        .containsPattern("\npacked +50.0 GB .* 1.00 .* 90.0K\n")
        .containsPattern("\ncompressed +- +- ")
        .contains(
            "device/s: lookups/s, at 90,000 reads/s",
            "If nothing compresses: 57.0 GB",
            "1 in 16 absent keys gets another key's value (-cb 4)")
        .endsWith(
            "\nRecommended: bsdb build --layout packed\n  because a lookup makes 1.00 reads"
                + " instead of 1.81, and touches 28.0 MB of memory instead of 815 MB\n");
    assertThat(run.out().lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(140));
  }

  @Test
  void aStoreAddsRequestsAndTheirCost() throws Exception {
    String[] given = {"--miss-rate", "0.1", "--store", "s3"};
    CommandRun run = plan(1_000_000_000, 8, 12, given);

    assertThat(run.code()).isZero();
    assertThat(run.out())
        .containsPattern("\nlayout +at open +requests +bytes/lookup +USD/million\n")
        .containsPattern("\nblocked +815 MB +1.81 +7.42 kB +0.73\n")
        .containsPattern("\npacked +13.7 MB +1.00 +4.10 kB +0.40\n")
        .contains("on s3: ", "at 0.40 USD for a million requests");
    JsonNode json =
        json(plan(1_000_000_000, 8, 12, "--store", "azure", "--request-price", "2", "--json"));
    assertThat(json.get("store").asText()).isEqualTo("azure");
    assertThat(json.get("storeUsdPerMillionRequests").asDouble()).isEqualTo(2);
    assertThat(layout(json, "blocked").get("storeUsdPerMillionLookups").asDouble()).isEqualTo(4);
    assertThat(layout(json, "packed").get("storeOpenBytes").asLong())
        .isEqualTo(layout(json, "packed").get("lookupMemoryBytes").asLong());
    assertThat(json(plan(10, 8, 12, "--json")).get("store").isNull()).isTrue();
  }

  @Test
  void whatAStoreDoesNotTellIsRefused() {
    assertThat(plan(10, 8, 12, "--request-price", "1").err()).contains("needs --store");
    assertThat(plan(10, 8, 12, "--store", "ftp").err()).contains("s3, gs or azure");
    assertThat(plan(10, 8, 12, "--store", "s3", "--request-price", "-1").code()).isEqualTo(2);
  }

  @Test
  void aFilterMakesPackedGoodForAbsentKeys() throws Exception {
    String[] given = {"--miss-rate", "0.9", "--filter-bits", "8"};
    CommandRun run = plan(1_000_000, 13, 32, given);
    assertThat(run.out())
        .containsPattern("\npacked +52.0 MB +52.0. +1.32 MB +10.5. +50.7 MB ")
        .containsPattern("\npacked .* 0.10 ")
        .contains(
            "packed with a filter of 8 bits: memory includes it",
            "Recommended: bsdb build --layout packed --filter-bits 8\n  because a lookup makes"
                + " 0.10 reads instead of 0.31,");

    JsonNode json = json(plan(1_000_000, 13, 32, "--filter-bits", "8", "--json"));
    assertThat(json.get("filterBits").asInt()).isEqualTo(8);
    JsonNode packed = layout(json, "packed");
    assertThat(packed.get("filterBytes").asLong()).isBetween(1_280_000L, 1_300_000L);
    assertThat(packed.get("readsPerAbsentKey").asDouble()).isLessThan(0.004);
    assertThat(packed.get("buildOptions").asText()).isEqualTo("--layout packed --filter-bits 8");
    assertThat(layout(json, "packed-compressed").get("buildOptions").asText())
        .isEqualTo("--layout packed -z --filter-bits 8");
    assertThat(layout(json, "blocked").get("filterBytes").asLong()).isZero();
    assertThat(layout(json, "blocked").get("buildOptions").asText()).isEqualTo("--layout blocked");
    assertThat(json.get("layouts"))
        .allSatisfy(each -> assertThat(each.get("possible")).isNotNull());
  }

  @Test
  void theResourcesOfTheBuildAreRepeated() throws Exception {
    JsonNode json =
        json(plan(1_000_000_000, 13, 32, "--ordered", "-ps", "7", "--threads", "3", "--json"));
    JsonNode usual = json(plan(1_000_000_000, 13, 32, "--ordered", "--threads", "3", "--json"));
    for (String name : List.of("blocked", "compact", "packed")) {
      assertThat(layout(json, name).get("buildOptions").asText()).endsWith(" -ps 7 --threads 3");
      assertThat(layout(json, name).get("buildMemoryBytes").asLong())
          .isLessThan(layout(usual, name).get("buildMemoryBytes").asLong());
    }
    assertThat(plan(1_000_000_000, 13, 32, "--ordered", "-ps", "7").out())
        .contains("else up to 7 MB (-ps)");
  }

  @Test
  void anOrderOfTheKeysIsIncluded() throws Exception {
    CommandRun run = plan(10_000_000, 13, 32, "--ordered");
    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains(
            "\ndisk: with the order of the keys, at most (B/record): blocked ",
            "\n  if keys are random bytes; less if they begin alike.",
            "\napproximate: not possible, because it keeps no keys that could be ordered\n",
            "Recommended: bsdb build --layout blocked --ordered\n  because its ranges take a third of");
    assertThat(run.out().lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(140));

    JsonNode with = json(plan(10_000_000, 13, 32, "--ordered", "--json"));
    JsonNode without = json(plan(10_000_000, 13, 32, "--json"));
    assertThat(with.get("ordered").asBoolean()).isTrue();
    assertThat(without.get("ordered").asBoolean()).isFalse();
    for (String name : List.of("blocked", "compact", "packed")) {
      long order = layout(with, name).get("orderBytesAtMost").asLong();
      assertThat(order / 1e7).isBetween(11.0, name.equals("packed") ? 13.0 : 17.0);
      assertThat(layout(without, name).get("orderBytesAtMost").asLong()).isZero();
      assertThat(layout(with, name).get("databaseBytes").asLong())
          .isEqualTo(layout(without, name).get("databaseBytes").asLong() + order);
      assertThat(layout(with, name).get("buildOptions").asText()).endsWith(" --ordered");
    }
  }

  @Test
  void theHashFunctionPtrTakesLessMemory() throws Exception {
    assertThat(plan(10_000_000, 13, 32, "--miss-rate", "0.6").out())
        .contains("the hash function, ptr; packed: the index", "bsdb build --layout blocked\n")
        .containsPattern("\nblocked +570 MB +57.02 +8.1. MB +6.52 ");

    assertThat(plan(10_000_000, 13, 32, "--miss-rate", "0.6", "--hash", "gov").out())
        .contains(
            "the hash function, gov; packed: the index", "bsdb build --layout blocked --hash gov\n")
        .containsPattern("\nblocked +573 MB +57.30 +10.9 MB +8.76 ");
  }

  @Test
  void ratesAreThoseMeasuredWithTheHashFunction() throws Exception {
    JsonNode gov = json(plan(10_000_000, 13, 32, "--json", "--hash", "gov"));
    JsonNode ptr = json(plan(10_000_000, 13, 32, "--json"));
    JsonNode half = json(plan(10_000_000, 13, 32, "--json", "--miss-rate", "0.5", "--hash", "gov"));
    JsonNode ptrHalf = json(plan(10_000_000, 13, 32, "--json", "--miss-rate", "0.5"));

    assertThat(gov.get("hash").asText()).isEqualTo("gov");
    assertThat(layout(ptr, "packed")).isEqualTo(layout(gov, "packed"));
    assertThat(layout(ptr, "packed-compressed")).isEqualTo(layout(gov, "packed-compressed"));
    for (String name : List.of("blocked", "compact")) {
      assertThat(ratio(layout(ptr, name), layout(gov, name), "estimatedWarmLookupsPerSecond"))
          .isCloseTo(1.15, within(0.001));
      assertThat(ratio(layout(ptrHalf, name), layout(half, name), "estimatedWarmLookupsPerSecond"))
          .isCloseTo(1.10, within(0.001)); // 1.08 to 1.14 in docs/benchmarks/hash-jdk25.txt
      assertThat(ratio(layout(ptr, name), layout(gov, name), "estimatedBuildSeconds"))
          .isCloseTo(1.08, within(0.001));
    }
    assertThat(
            ratio(
                layout(ptr, "approximate"),
                layout(gov, "approximate"),
                "estimatedWarmLookupsPerSecond"))
        .isCloseTo(1.20, within(0.001));
    assertThat(layout(ptr, "approximate").get("buildOptions").asText())
        .isEqualTo("-a --approximate-width 32");
    assertThat(layout(gov, "approximate").get("buildOptions").asText())
        .isEqualTo("-a --approximate-width 32 --hash gov");
  }

  private static double ratio(JsonNode one, JsonNode other, String field) {
    return one.get(field).asDouble() / other.get(field).asDouble();
  }

  @Test
  void theNotesSayWhatHoldsForTheGivenOptions() throws Exception {
    String out = plan(1_000_000, 13, 32, "--miss-rate", "0.6", "-cb", "0").out();

    assertThat(out)
        .contains(
            "every absent key gets another key's value (-cb 0)",
            "\ncompressed: the size depends on the data. Build a sample with --layout compressed ",
            "\npacked-compressed: the size depends on the data. Build a sample with --layout packed"
                + " -z ",
            "--layout packed\n  because a lookup makes 1.00 reads instead of 2.00,");
  }

  @ParameterizedTest
  @EnumSource
  void theJsonHasTheSizesOfRealDatabases(HashAlgorithm hash) throws Exception {
    int records = 3_000;
    String word = hash.name().toLowerCase(Locale.ROOT);
    JsonNode json =
        json(plan(records, 8, 40, "-cb", "7", "--hash", word, "--threads", "2", "--json"));
    assertThat(json.get("hash").asText()).isEqualTo(word);
    for (Layout layout : Layout.values()) {
      if (layout.isCompressed()) {
        continue;
      }
      Path target = folder.resolve(layout.name());
      BuildOptions options = BuildOptions.defaults().withLayout(layout);
      if (!layout.isPacked()) {
        options = options.withChecksumBits(7).withHash(hash);
      }
      try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
        for (int i = 0; i < records; i++) {
          builder.add(ByteBuffer.allocate(8).putLong(i).array(), new byte[40]);
        }
        builder.finish();
      }
      JsonNode planned = layout(json, layout.name().toLowerCase(Locale.ROOT));
      long real = Database.statistics(target).databaseBytes();
      long page = layout == Layout.PACKED || hash == HashAlgorithm.PTR ? 4096 : 0;
      assertThat(planned.get("databaseBytes").asLong())
          .as("%s", layout)
          .isBetween(real - page, real + page);
      assertThat(planned.get("hashBytes").asLong())
          .isCloseTo(Database.statistics(target).hashBytes(), within(page));
    }
  }

  @Test
  void theJsonNamesUnitsAndLeavesUnknownFiguresNull() throws Exception {
    JsonNode json = json(plan(1_000, 8, 300, "--json"));

    assertThat(json.get("records").asLong()).isEqualTo(1_000);
    assertThat(json.get("deviceIops").isNull()).isTrue();
    assertThat(json.get("compressionRatio").isNull()).isTrue();
    assertThat(json.get("layouts")).hasSize(6);
    JsonNode compressed = layout(json, "compressed");
    assertThat(compressed.get("databaseBytes").isNull()).isTrue();
    assertThat(compressed.get("databaseBytesIfNothingCompresses").asLong()).isPositive();
    assertThat(compressed.get("deviceLookupsPerSecond").isNull()).isTrue();
    JsonNode approximate = layout(json, "approximate");
    assertThat(approximate.get("possible").asBoolean()).isFalse();
    assertThat(approximate.get("impossibleBecause").asText())
        .isEqualTo("it keeps at most 255 bytes of a value");

    JsonNode iops = json(plan(1_000, 8, 30, "--json", "--device-iops", "1000"));
    assertThat(layout(iops, "blocked").get("deviceLookupsPerSecond").asLong()).isEqualTo(500);
    assertThat(layout(iops, "packed").get("deviceLookupsPerSecond").asLong()).isEqualTo(1_000);
    assertThat(layout(iops, "approximate").get("buildOptions").asText())
        .isEqualTo("-a --approximate-width 30");
  }

  @ParameterizedTest
  @CsvSource({
    "1000000, 13, 32, 0, 0, packed",
    "1000000, 13, 32, 0.5, 0, packed",
    "1000000, 13, 32, 0.6, 0, blocked",
    "1000000, 16, 300, 0, 0, packed",
    "1000000, 16, 300, 0.6, 0, blocked",
    "1000000, 16, 2300, 0, 0, packed",
    "1000000, 16, 2300, 0.6, 0, compact",
    "1000000, 16, 20000, 0, 0, packed",
    "1000000, 16, 200000, 0, 0, blocked",
    "1000000, 16, 300, 0, 1.5, packed",
    "1000000, 16, 300, 0, 3, compressed",
    "0, 8, 8, 0, 0, packed",
    "1000000000000, 16, 300, 0, 0, blocked",
  })
  void theRecommendationFollowsItsRules(
      long records, int key, int value, String miss, String ratio, String expected)
      throws Exception {
    JsonNode json =
        ratio.equals("0")
            ? json(plan(records, key, value, "--miss-rate", miss, "--json"))
            : json(plan(records, key, value, "--miss-rate", miss, "--ratio", ratio, "--json"));

    assertThat(json.get("recommended").asText()).isEqualTo(expected);
    assertThat(json.get("reason").asText()).isNotEmpty();
  }

  @Test
  void aNoteSaysWhatLongRecordsCostInThePackedLayout() {
    String note = "\npacked: records over 128 bytes span pages. In memory, present keys then take";
    assertThat(plan(1_000_000, 13, 32).out()).doesNotContain(note);
    CommandRun run = plan(1_000_000, 13, 1_000);
    assertThat(run.out())
        .contains(note, "from the device, a read fetches 1.5 pages\n")
        .contains("because a lookup makes 1.00 reads instead of 2.00,");
    assertThat(run.out().lines())
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(140));
    assertThat(plan(1_000_000, 13, 200_000).out())
        .contains("records are long: packed would read 99 pages a lookup instead of 50\n");
  }

  @Test
  void hugeDatabasesNeedSeveralFilesAndPackedOnesArePossibleNoMore() {
    CommandRun run = plan(1L << 40, 16, 300);

    assertThat(run.code()).isZero();
    assertThat(run.out())
        .contains(
            "packed: not possible, because these records need",
            "Recommended: bsdb build --layout blocked --data-files 2");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--records -1 --key-bytes 8 --value-bytes 8 | --records takes a whole number from 0",
        "--records 100M --key-bytes 8 --value-bytes 8 | --records takes a whole number from 0",
        "--records 1 --key-bytes 65536 --value-bytes 8 | --key-bytes takes a whole number from 0 to 65535",
        "--records 1 --key-bytes 8 --value-bytes 2147483648 | --value-bytes takes a whole number from 0 to 2147483639",
        "--records 1 --key-bytes 8 --value-bytes 8 --miss-rate 1.1 | --miss-rate takes a number from 0 to 1",
        "--records 1 --key-bytes 8 --value-bytes 8 --miss-rate NaN | --miss-rate takes a number from 0 to 1",
        "--records 1 --key-bytes 8 --value-bytes 8 --hash md5 | --hash takes gov or ptr",
        "--records 1 --key-bytes 8 --value-bytes 8 --ratio 0 | --ratio takes a number from 0.01",
        "--records 1 --key-bytes 8 --value-bytes 8 --device-iops 0 | --device-iops takes a whole number from 1",
        "--key-bytes 8 --value-bytes 8 | missing --records: a plan needs the number of records",
        "--records 1 --value-bytes 8 | missing --key-bytes",
        "--records 1 --key-bytes 8 | missing --value-bytes",
        "--records 1099511627776 --key-bytes 8 --value-bytes 2000000000 | no layout holds so many bytes: no database holds more than 32 PiB",
      })
  void mistakesNameTheOptionAndItsRange(String line, String message) {
    CommandRun run = bsdb(("plan " + line).split(" ", -1));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("bsdb plan: " + message);
    assertThat(run.err()).endsWith("Try: bsdb plan --help\n");
  }

  @Test
  void numbersForPeopleHaveThreeDigits() {
    assertThat(PlanTable.bytes(0)).isEqualTo("0 B");
    assertThat(PlanTable.bytes(999)).isEqualTo("999 B");
    assertThat(PlanTable.bytes(1_000)).isEqualTo("1.00 kB");
    assertThat(PlanTable.bytes(57_300_000_000L)).isEqualTo("57.3 GB");
    assertThat(PlanTable.rate(Double.NaN)).isEqualTo("-");
    assertThat(PlanTable.rate(1_410_000)).isEqualTo("1.41M");
    assertThat(PlanTable.time(4.7)).isEqualTo("4.70 s");
    assertThat(PlanTable.time(470)).isEqualTo("7.83 min");
    assertThat(PlanTable.time(47_000)).isEqualTo("13.1 h");
  }
}
