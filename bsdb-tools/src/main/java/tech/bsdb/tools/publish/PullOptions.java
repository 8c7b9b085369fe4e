package tech.bsdb.tools.publish;

import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/** The options for bringing a database from elsewhere, which several commands share. */
public final class PullOptions {
  private static final Pattern SHARD_RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final int MOST_SHARDS = 16_384;

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
        .withShards(shards(arguments.text("--shards")))
        .withThreads(arguments.integer("--" + prefix + "threads", 1, 256, 4))
        .withAttempts(
            arguments.integer(
                "--" + prefix + "attempts", 1, 100, TransferOptions.defaults().attempts()),
            TransferOptions.defaults().pause())
        .withBytesPerSecond(arguments.number("--max-rate", 1, Long.MAX_VALUE, Long.MAX_VALUE));
  }

  /** The shards of {@code --shards}, such as {@code 0-15,18}; null if it is not given. */
  private static @Nullable SortedSet<Integer> shards(Optional<String> written)
      throws UsageException {
    if (written.isEmpty()) {
      return null;
    }
    SortedSet<Integer> shards = new TreeSet<>();
    for (String range : written.get().split(",", -1)) {
      Matcher matcher = SHARD_RANGE.matcher(range.strip());
      if (!matcher.matches()) {
        throw noShards(written.get());
      }
      int first = Integer.parseInt(matcher.group(1));
      int last = matcher.group(2) == null ? first : Integer.parseInt(matcher.group(2));
      if (last < first || last >= MOST_SHARDS) {
        throw noShards(written.get());
      }
      for (int shard = first; shard <= last; shard++) {
        shards.add(shard);
      }
    }
    return shards;
  }

  private static UsageException noShards(String written) {
    return new UsageException(
        "--shards takes numbers and ranges of shards, from 0 to 16383, such as 0-15,18, not \""
            + written
            + "\"");
  }
}
