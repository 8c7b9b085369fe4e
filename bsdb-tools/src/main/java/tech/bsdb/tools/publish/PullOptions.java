package tech.bsdb.tools.publish;

import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.inspect.KeyOptions;
import tech.bsdb.transfer.TransferOptions;

/** The options for bringing a database from elsewhere, which several commands share. */
public final class PullOptions {
  private static final Pattern SHARD_RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final int MOST_SHARDS = 16_384;
  private static final int FOLD_MIB = 64;

  private PullOptions() {}

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
        .withBytesPerSecond(arguments.number("--max-rate", 1, Long.MAX_VALUE, Long.MAX_VALUE))
        .withFoldBytes((long) arguments.integer("--fold-memory", 0, 1 << 20, FOLD_MIB) << 20)
        .withTrusted(KeyOptions.trusted(arguments));
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
