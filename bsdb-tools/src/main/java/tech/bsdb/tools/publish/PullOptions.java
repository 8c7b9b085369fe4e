package tech.bsdb.tools.publish;

import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** The options for bringing a database from elsewhere, which several commands share. */
public final class PullOptions {
  private PullOptions() {}

  /** Declares the options. */
  public static Syntax declare(Syntax syntax) {
    return declare(syntax, "");
  }

  /**
   * Declares the options for a command that has others like them.
   *
   * @param prefix what the names begin with that would be ambiguous there, such as {@code follow-}
   */
  public static Syntax declare(Syntax syntax, String prefix) {
    syntax
        .section("Transfer")
        .value(
            "--shards",
            "LIST",
            "of a set, bring only these shards, such as 0-15,18; lookups of other keys are refused"
                + " with the number of their shard (default: all)")
        .value("--" + prefix + "threads", "N", "files that arrive at once, 1 to 256 (default 4)")
        .value(
            "--" + prefix + "attempts",
            "N",
            "how often to ask for a file while nothing more of it arrives, 1 to 100, with pauses"
                + " that grow from 0.5 s to 30 s (default 6, within 16 s)")
        .value(
            "--max-rate",
            "BYTES",
            "the most bytes a second, for a network or disks that others need, too (default: no"
                + " limit)");
    return FileSourceOptions.declare(syntax.section("Hadoop"));
  }

  /** Reads the options except those of Hadoop. */
  public static TransferOptions transfer(Arguments arguments) throws UsageException {
    return transfer(arguments, "");
  }

  /** Reads the options except those of Hadoop, declared with a prefix. */
  public static TransferOptions transfer(Arguments arguments, String prefix) throws UsageException {
    return TransferOptions.defaults()
        .withShards(ShardList.of(arguments.text("--shards")))
        .withThreads(arguments.integer("--" + prefix + "threads", 1, 256, 4))
        .withAttempts(
            arguments.integer(
                "--" + prefix + "attempts", 1, 100, TransferOptions.defaults().attempts()),
            TransferOptions.defaults().pause())
        .withBytesPerSecond(arguments.number("--max-rate", 1, Long.MAX_VALUE, Long.MAX_VALUE));
  }
}
