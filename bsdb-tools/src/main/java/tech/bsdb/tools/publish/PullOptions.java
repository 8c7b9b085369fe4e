package tech.bsdb.tools.publish;

import tech.bsdb.tools.build.ParquetSourceOptions;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.transfer.TransferOptions;

/** The options for bringing a database from elsewhere, which several commands share. */
public final class PullOptions {
  private PullOptions() {}

  /** Declares the options. */
  public static Syntax declare(Syntax syntax) {
    syntax
        .section("Transfer")
        .value(
            "--shards",
            "LIST",
            "of a set, bring only these shards, such as 0-15,18; lookups of other keys are refused"
                + " with the number of their shard (default: all)")
        .value("--threads", "N", "files that arrive at once, 1 to 256 (default 4)")
        .value(
            "--attempts",
            "N",
            "how often to ask for a file while nothing more of it arrives, 1 to 100, with pauses"
                + " that grow from 0.5 s to 30 s (default 6, within 16 s)")
        .value(
            "--max-rate",
            "BYTES",
            "the most bytes a second, for a network or disks that others need, too (default: no"
                + " limit)");
    return ParquetSourceOptions.hadoop(syntax.section("Hadoop"));
  }

  /** Reads the options except those of Hadoop. */
  public static TransferOptions transfer(Arguments arguments) throws UsageException {
    return TransferOptions.defaults()
        .withShards(ShardList.of(arguments.text("--shards")))
        .withThreads(arguments.integer("--threads", 1, 256, 4))
        .withAttempts(
            arguments.integer("--attempts", 1, 100, TransferOptions.defaults().attempts()),
            TransferOptions.defaults().pause())
        .withBytesPerSecond(arguments.number("--max-rate", 1, Long.MAX_VALUE, Long.MAX_VALUE));
  }
}
