package tech.bsdb.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Reports;
import tech.bsdb.Statistics;
import tech.bsdb.tools.CommandRun;

class StatCommandTest {
  @Test
  void enginesNeedNoDatabase() {
    CommandRun run = bsdb("stat", "--engines");

    assertThat(run.code()).isZero();
    List<String> lines = run.out().lines().map(line -> line.replaceAll(" +", " ")).toList();
    assertThat(lines).hasSize(5);
    assertThat(lines.get(4)).isEqualTo("memory available");
    assertThat(lines.subList(0, 3))
        .containsExactly("mapped available", "buffered available", "direct available");
    assertThat(lines.get(3)).matches("io_uring .+");
    if (Runtime.version().feature() < 22) {
      assertThat(lines.get(3)).contains("needs Java 22 or newer, this is");
    }
  }

  @Test
  void enginesOfAFileSystemWithoutDirectReadsAreRefused() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/status")), "no file system of that kind");
    CommandRun run = bsdb("stat", "--engines", "-d", "/proc/self");

    assertThat(run.code()).isZero();
    assertThat(run.out().lines().toList().get(2)).contains("does not offer direct I/O (O_DIRECT)");
  }

  @Test
  void theTextReportShowsSizesPerRecord() {
    assertThat(StatCommand.forPeople(Reports.statistics("blocked", 0, 0)))
        .containsEntry("records", "1,000")
        .containsEntry("kind", "exact, blocked")
        .containsEntry("hash function", "gov3-bucketed, 400 bytes, 0.40 a record")
        .containsEntry("all files", "58,400 bytes, 58.40 a record")
        .containsEntry("  data-0", "50,000")
        .doesNotContainKey("shard");
  }

  @Test
  void theKindNamesItsParameters() {
    assertThat(StatCommand.forPeople(Reports.statistics("none", 8, 0)))
        .containsEntry("kind", "approximate, at most 8 bytes of each value");
    assertThat(StatCommand.forPeople(Reports.statistics("compressed", 0, 4096)))
        .containsEntry("kind", "exact, compressed: ZSTD level 6, blocks of 4,096, no dictionary");
  }

  @Test
  void aPackedDatabaseHasBinsInsteadOfAHashFunction() {
    assertThat(StatCommand.forPeople(Reports.packed(1_234, false)))
        .containsEntry("kind", "exact, packed")
        .containsEntry("bins", "1,234, within pages")
        .containsEntry("index", "8,000 bytes, 8.00 a record")
        .containsEntry("all files", "58,000 bytes, 58.00 a record")
        .doesNotContainKeys("hash function", "checksum bits");
    assertThat(StatCommand.forPeople(Reports.packed(1_234, true)))
        .containsEntry("bins", "1,234, spanning pages");
    assertThat(StatCommand.forPeople(Reports.statistics("blocked", 0, 0)))
        .containsEntry("checksum bits", "4 a key")
        .doesNotContainKey("bins");
  }

  @Test
  void aFilterIsShownIfThereIsOne() {
    assertThat(StatCommand.forPeople(Reports.filtered(8)))
        .containsEntry("filter", "8 bits a key, 16,384 bytes, 16.38 a record");
    assertThat(StatCommand.forPeople(Reports.packed(1_234, true))).doesNotContainKey("filter");
    assertThat(StatCommand.forPrograms(Reports.filtered(8)))
        .containsEntry("filterBits", 8)
        .containsEntry("filterBytes", 16_384L);
    assertThat(StatCommand.forPrograms(Reports.packed(1_234, true)))
        .containsEntry("filterBits", 0)
        .containsEntry("filterBytes", 0L);
  }

  @Test
  void theOrderOfKeysIsShownIfItIsStored(@TempDir Path folder) throws Exception {
    Path input = Files.writeString(folder.resolve("in.txt"), "b 1\na 2\n");
    for (boolean ordered : List.of(true, false)) {
      String database = folder.resolve("db-" + ordered).toString();
      List<String> line = new ArrayList<>(List.of("build", "-i", input.toString()));
      line.addAll(List.of("-o", database, "--layout", "packed"));
      if (ordered) {
        line.add("--ordered");
      }
      CommandRun build = bsdb(line.toArray(String[]::new));
      assertThat(build.code()).as(build.toString()).isZero();
      String text = bsdb("stat", "-d", database).out().replaceAll(" +", " ");
      String json = bsdb("stat", "-d", database, "--json").out();
      if (ordered) {
        assertThat(build.err()).contains("    order-").contains(", order ");
        assertThat(text).contains("\norder of keys 12,288 bytes, 6144.00 a record\n", "\n order-");
        assertThat(json).contains("\"ordered\":true,\"orderBytes\":12288,");
      } else {
        assertThat(build.err()).doesNotContain("order-", ", order ");
        assertThat(text).doesNotContain("order");
        assertThat(json).contains("\"ordered\":false,\"orderBytes\":0,");
      }
    }
  }

  @Test
  void aSetShowsItsShardsAndAShardItsNumber() {
    Map<String, String> set =
        StatCommand.forPeople(Reports.shards(null, List.of(400L, 0L, 1_600L)));
    assertThat(set).containsEntry("shards", "3, of 0 to 1,600 records").doesNotContainKey("shard");
    Map<String, String> shard = StatCommand.forPeople(Reports.shards(2, List.of(1_600L)));
    assertThat(shard).containsEntry("shard", "2 of 3").doesNotContainKey("shards");
  }

  @Test
  void aPartialSetShowsWhichShardsItHolds() {
    Statistics partial = Reports.partial(8, List.of(0, 1, 5), List.of(400L, 0L, 1_600L));
    assertThat(StatCommand.forPeople(partial))
        .containsEntry("shards", "0-1,5 of 8, of 0 to 1,600 records")
        .containsEntry("whole set", "1".repeat(32));
    assertThat(StatCommand.forPrograms(partial))
        .containsEntry("shard", null)
        .containsEntry("shards", 8)
        .containsEntry("heldShards", "0-1,5")
        .containsEntry("wholeSetId", "1".repeat(32))
        .containsEntry("shardRecords", List.of(400L, 0L, 1_600L));
    for (Statistics other :
        List.of(
            Reports.shards(null, List.of(400L, 0L, 1_600L)),
            Reports.shards(2, List.of(1_600L)),
            Reports.statistics("blocked", 0, 0))) {
      assertThat(StatCommand.forPeople(other)).doesNotContainKey("whole set");
      assertThat(StatCommand.forPrograms(other))
          .containsEntry("heldShards", null)
          .containsEntry("wholeSetId", null);
    }
  }

  @Test
  void theJsonReportTellsSetsShardsAndUndividedDatabasesApart() {
    assertThat(StatCommand.forPrograms(Reports.shards(null, List.of(400L, 0L, 1_600L))))
        .containsEntry("shard", null)
        .containsEntry("shards", 3)
        .containsEntry("shardRecords", List.of(400L, 0L, 1_600L));
    assertThat(StatCommand.forPrograms(Reports.shards(2, List.of(1_600L))))
        .containsEntry("shard", 2)
        .containsEntry("shards", 3)
        .doesNotContainKey("shardRecords");
    assertThat(StatCommand.forPrograms(Reports.statistics("blocked", 0, 0)))
        .containsEntry("shard", 0)
        .containsEntry("shards", 1)
        .doesNotContainKey("shardRecords");
  }

  @Test
  void theJsonReportHasTheSameFieldsForEveryLayout() {
    Map<String, ?> packed = StatCommand.forPrograms(Reports.packed(1_234, true));
    Map<String, ?> blocked = StatCommand.forPrograms(Reports.statistics("blocked", 0, 0));
    assertThat(packed.keySet()).containsExactlyElementsOf(blocked.keySet());
    assertThat(packed.get("layout")).isEqualTo("packed");
    assertThat(packed.get("bins")).isEqualTo(1_234L);
    assertThat(packed.get("spanning")).isEqualTo(true);
    assertThat(packed.get("checksumBits")).isEqualTo(0);
    assertThat(packed.get("hashBytes")).isEqualTo(0L);
    assertThat(blocked.get("bins")).isEqualTo(0L);
    assertThat(blocked.get("spanning")).isEqualTo(false);
  }

  @Test
  void theJsonReportHasPlainNumbers() {
    assertThat(StatCommand.forPrograms(Reports.statistics("blocked", 0, 0)))
        .containsEntry("records", 1_000L)
        .containsEntry("layout", "blocked")
        .containsEntry("seed", -77L)
        .containsEntry("databaseBytes", 58_400L)
        .containsEntry("fileBytes", Map.of("data-0", 50_000L));
  }
}
