package tech.bsdb.tools.publish;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.transfer.TransferOptions;

/**
 * Which source a store follows, and how.
 *
 * @param source the location of a distant store, database or set, as the user wrote it
 * @param access how to reach it
 * @param store the local store, which need not exist
 * @param interval the usual time between two looks at the source
 * @param transfer how files are brought, and which shards
 * @param checks what a version must pass before it goes live
 * @param keep how many versions to keep besides the current one; negative for all
 */
public record FollowOptions(
    String source,
    FileSourceOptions access,
    Path store,
    Duration interval,
    TransferOptions transfer,
    Checks checks,
    int keep) {
  private static final String PREFIX = "follow-";

  /**
   * Reads the options.
   *
   * @param store the directory that the server serves
   * @return null if nothing is to be followed
   * @throws UsageException if options are given that need a source
   */
  public static @Nullable FollowOptions of(Arguments arguments, Path store) throws UsageException {
    Optional<String> source = arguments.text("--follow");
    if (source.isEmpty()) {
      List<String> needless = new ArrayList<>(arguments.optionsIn("following"));
      needless.removeAll(arguments.optionsIn("hadoop")); // or for a data set elsewhere
      arguments.refuse(needless, "is for following a source; add --follow SRC");
      return null;
    }
    arguments.refuseEmpty("--follow", "a source, such as hdfs://namenode:8020/stores/users");
    return new FollowOptions(
        source.get(),
        FileSourceOptions.of(arguments),
        store,
        Duration.ofSeconds(arguments.number("--follow-interval", 1, 86_400, 60)),
        PullOptions.transfer(arguments, PREFIX),
        Checks.of(arguments, Checks.Counting.IF_NEEDED),
        arguments.integer("--keep", 0, 1_000_000, -1));
  }

  /** The source for everyone to see: a URI without the password that it may contain. */
  String shownSource() {
    return withoutPasswords(source);
  }

  /** A text without the passwords of the URIs in it. */
  static String withoutPasswords(String text) {
    return text.replaceAll("://[^/@\\s:]*:[^/@\\s]*@", "://***@");
  }
}
