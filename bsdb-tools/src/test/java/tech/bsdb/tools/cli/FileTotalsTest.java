package tech.bsdb.tools.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FileTotalsTest {
  @Test
  void filesOfAnUndividedDatabaseHaveALineEach() {
    Map<String, Long> files = new LinkedHashMap<>();
    files.put("data-000-0a1b2c3d.bsdb", 1_234_567L);
    files.put("manifest.bsdb", 12_288L);

    assertThat(FileTotals.forPeople(files))
        .containsExactly(
            entry("data-000-0a1b2c3d.bsdb", "1,234,567"), entry("manifest.bsdb", "12,288"));
  }

  @Test
  void eachShardHasALine() {
    assertThat(FileTotals.forPeople(set(3)))
        .containsExactly(
            entry("shard-00000/", "1,010"),
            entry("shard-00001/", "1,011"),
            entry("shard-00002/", "1,012"),
            entry("manifest.bsdb", "5"));
    assertThat(FileTotals.forPeople(set(100))).hasSize(101);
  }

  @Test
  void manyShardsShareALine() {
    assertThat(FileTotals.forPeople(set(16_384)))
        .containsExactly(
            entry("16,384 directories", "1,010 to 17,393 each"), entry("manifest.bsdb", "5"));
  }

  /** Shards of two files, whose sizes add up to 1,010 bytes and the shard's number. */
  private static Map<String, Long> set(int shards) {
    Map<String, Long> files = new LinkedHashMap<>();
    for (int shard = 0; shard < shards; shard++) {
      String directory = String.format("shard-%05d/", shard);
      files.put(directory + "data", 1_000L);
      files.put(directory + "hash", 10L + shard);
    }
    files.put("manifest.bsdb", 5L);
    return files;
  }
}
