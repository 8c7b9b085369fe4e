package tech.bsdb;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Made-up reports and statistics. */
public final class Reports {
  private Reports() {}

  /** The report of a build of a million records. */
  public static BuildReport build(
      Map<String, Long> files, Map<BuildListener.Stage, Double> seconds) {
    return new BuildReport(
        Path.of("rdb"),
        "0".repeat(32),
        1_000_000,
        3,
        5,
        13_000_000,
        26_000_000,
        61_000_000,
        files,
        0,
        seconds,
        List.of(),
        null);
  }

  /** The figures of a database of a thousand records that has a hash function. */
  public static Statistics statistics(String layout, int approximateWidth, int blockSize) {
    return statistics(layout, approximateWidth, blockSize, 0, false, 0, 0, 1, List.of(1_000L));
  }

  /** The figures of a set of three shards, or of one shard of it if its number is not null. */
  public static Statistics shards(@Nullable Integer number, List<Long> records) {
    int shard = number == null ? -1 : number;
    return statistics("blocked", 0, 0, 0, false, 0, shard, 3, records);
  }

  /** The figures of a set of which some shards are held. */
  public static Statistics partial(int shards, List<Integer> held, List<Long> records) {
    return statistics("blocked", 0, 0, 0, false, 0, -1, shards, records, held, "1".repeat(32));
  }

  /** The figures of a packed database of a thousand records. */
  public static Statistics packed(long bins, boolean spanning) {
    return statistics("packed", 0, 0, bins, spanning, 0, 0, 1, List.of(1_000L));
  }

  /** The figures of a packed database of a thousand records with a filter. */
  public static Statistics filtered(int filterBits) {
    return statistics("packed", 0, 0, 1_000, false, filterBits, 0, 1, List.of(1_000L));
  }

  private static Statistics statistics(
      String layout,
      int approximateWidth,
      int blockSize,
      long bins,
      boolean spanning,
      int filterBits,
      int shard,
      int shards,
      List<Long> shardRecords) {
    List<Integer> held = shard == -1 ? IntStream.range(0, shards).boxed().toList() : List.of(shard);
    return statistics(
        layout,
        approximateWidth,
        blockSize,
        bins,
        spanning,
        filterBits,
        shard,
        shards,
        shardRecords,
        held,
        null);
  }

  private static Statistics statistics(
      String layout,
      int approximateWidth,
      int blockSize,
      long bins,
      boolean spanning,
      int filterBits,
      int shard,
      int shards,
      List<Long> shardRecords,
      List<Integer> held,
      @Nullable String wholeSetId) {
    int hashBytes = bins == 0 ? 400 : 0;
    return new Statistics(
        Path.of("rdb"),
        Path.of("rdb").toString(),
        "0".repeat(32),
        2,
        layout,
        approximateWidth,
        1_000,
        2,
        bins == 0 ? 4 : 0,
        "mum",
        -77,
        13_000,
        32_000,
        13,
        32,
        blockSize,
        blockSize == 0 ? 0 : 6,
        0,
        shard,
        shards,
        hashBytes,
        8_000,
        50_000,
        58_000 + hashBytes,
        Map.of("data-0", 50_000L),
        null,
        null,
        bins,
        spanning,
        filterBits,
        filterBits == 0 ? 0 : 16_384,
        false,
        0,
        bins == 0 ? "gov3-bucketed" : "none",
        shardRecords,
        held,
        wholeSetId,
        "not opened",
        false);
  }
}
