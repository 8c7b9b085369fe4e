package tech.bsdb.tools.publish;

import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.UsageException;

/** The numbers of shards as users write them: {@code 0-15,18}. */
final class ShardList {
  private static final Pattern RANGE = Pattern.compile("(\\d{1,5})(?:-(\\d{1,5}))?");
  private static final int MOST = 16_384;

  private ShardList() {}

  /** Parses the value of {@code --shards}; returns null if there is none. */
  static @Nullable SortedSet<Integer> of(Optional<String> written) throws UsageException {
    if (written.isEmpty()) {
      return null;
    }
    SortedSet<Integer> shards = new TreeSet<>();
    for (String range : written.get().split(",", -1)) {
      Matcher matcher = RANGE.matcher(range.strip());
      if (!matcher.matches()) {
        throw wrong(written.get());
      }
      int first = Integer.parseInt(matcher.group(1));
      int last = matcher.group(2) == null ? first : Integer.parseInt(matcher.group(2));
      if (last < first || last >= MOST) {
        throw wrong(written.get());
      }
      for (int shard = first; shard <= last; shard++) {
        shards.add(shard);
      }
    }
    return shards;
  }

  private static UsageException wrong(String written) {
    return new UsageException(
        "--shards takes numbers and ranges of shards, from 0 to 16383, such as 0-15,18, not \""
            + written
            + "\"");
  }
}
