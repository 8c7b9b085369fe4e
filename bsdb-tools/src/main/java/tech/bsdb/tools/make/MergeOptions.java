package tech.bsdb.tools.make;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.store.Store;
import tech.bsdb.tools.cli.Arguments;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputOptions;
import tech.bsdb.tools.inspect.DatabaseOption;

/**
 * Options for a merge, apart from those of its input: the base, the keys to delete, the target and
 * the store.
 *
 * @param base the directory of the base
 * @param target the directory of the new database
 * @param deletes the files of the keys to delete, of which - is standard input
 * @param store the store into which the result is published, or null
 * @param baseVersion the store's current version if that is the base, else null
 */
public record MergeOptions(
    Arguments arguments,
    Path base,
    Path target,
    List<String> deletes,
    @Nullable Path store,
    @Nullable String baseVersion) {
  /**
   * Reads the options.
   *
   * @param ofRecords the options that need records to merge
   * @throws UsageException if a value is wrong, or options conflict
   * @throws FileSystemException if the base is missing
   */
  static MergeOptions of(Arguments arguments, String example, List<String> ofRecords)
      throws UsageException, IOException {
    List<String> deletes = arguments.all("--delete");
    if (arguments.all("-i").isEmpty() && deletes.isEmpty()) {
      throw new UsageException("no changes given (-i, --delete); for example: " + example);
    }
    if (!arguments.has("-i")) {
      arguments.refuse(
          ofRecords,
          "is for records to merge: name their files with -i, or omit it (the files of --delete"
              + " hold only keys)");
    }
    checkDeletes(arguments, deletes);
    arguments.refuseEmpty("-o", "a directory");
    if (!arguments.has("-o")) {
      throw new UsageException(
          "no directory given for the new database (-o); for example: " + example);
    }
    Path target = arguments.path("-o", "");
    Path store = store(arguments);
    Path base = DatabaseOption.current(arguments);
    refusePlaces(base, target, store);
    return new MergeOptions(
        arguments, base, target, deletes, store, store == null ? null : version(store, base));
  }

  private static void checkDeletes(Arguments arguments, List<String> deletes)
      throws UsageException {
    arguments.refuseEmpty("--delete", "a file, a directory or -");
    List<String> all = new ArrayList<>(deletes);
    all.addAll(arguments.all("-i"));
    if (deletes.contains("-") && all.indexOf("-") != all.lastIndexOf("-")) {
      throw new UsageException("- is given twice, but there is only one standard input");
    }
    Path rejects = arguments.path("--rejects").orElse(null);
    for (String file : deletes) {
      if (rejects != null
          && TargetOptions.isSameFile(rejects, Arguments.pathOf("--delete", file))) {
        throw new UsageException(
            "--rejects " + rejects + " is the file of --delete; name another file");
      }
    }
  }

  private static @Nullable Path store(Arguments arguments) throws UsageException {
    if (!arguments.has("--publish")) {
      arguments.refuse(arguments.optionsIn("publication"), "needs --publish");
      return null;
    }
    arguments.refuseEmpty("--publish", "a store");
    return arguments.path("--publish", "");
  }

  private static void refusePlaces(Path base, Path target, @Nullable Path store)
      throws UsageException, IOException {
    Path realBase = base.toRealPath();
    Path realTarget = TargetOptions.resolved(target);
    if (realTarget.equals(realBase)) {
      throw new UsageException(
          "-o " + target + " is the base: a merge leaves it as it is; name another directory");
    }
    if (realTarget.startsWith(realBase) || realBase.startsWith(realTarget)) {
      throw new UsageException(
          "-o %s and the base %s lie within each other; name another directory"
              .formatted(target, base));
    }
    if (store != null) {
      Path realStore = TargetOptions.resolved(store);
      if (realTarget.startsWith(realStore) || realStore.startsWith(realTarget)) {
        throw new UsageException(
            "-o %s and the store %s lie within each other; name another directory"
                .formatted(target, store));
      }
    }
  }

  /** The name of the store's current version if that is the base, else null. */
  private static @Nullable String version(Path store, Path base) throws IOException {
    String current = Store.isStore(store) ? Store.open(store).current() : null;
    return current != null && TargetOptions.isSameFile(store.resolve(current), base)
        ? current
        : null;
  }

  /** Whether standard input is read. */
  boolean readsInput() {
    return deletes.contains("-") || arguments.all("-i").contains("-");
  }

  /** How the keys to delete are written; without inputs if there are none. */
  InputOptions keys() throws UsageException {
    return SourceOptions.ofKeys(arguments, deletes);
  }

  /** What to build from a base. */
  TargetOptions target(BuildOptions like) throws UsageException {
    if (!like.layout().isCompressed()) {
      arguments.refuse(List.of("-sc", "-ds"), "needs a base that is compressed");
    }
    BuildOptions build =
        TargetOptions.withResources(arguments, TargetOptions.withDictionary(arguments, like))
            .withOverwrite(arguments.has("--overwrite"));
    return new TargetOptions(target, build);
  }
}
