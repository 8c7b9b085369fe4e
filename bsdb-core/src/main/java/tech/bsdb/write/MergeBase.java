package tech.bsdb.write;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.format.Facts;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.lookup.Lookup;

/**
 * The base of a build: an open database or a whole set of shards, of the kind that the options ask
 * for.
 *
 * @param lookup the base; its owner closes it
 */
public record MergeBase(Lookup lookup) {
  /**
   * Takes a database as the base of a build.
   *
   * @throws IllegalArgumentException if it is approximate or a part of a set, the options are those
   *     of another kind of database, or the target is the directory of the base
   */
  public static MergeBase of(Lookup lookup, BuildOptions options, Path target) throws IOException {
    MergeBase base = new MergeBase(lookup);
    base.requireWhole();
    base.requireLike(options);
    base.requireElsewhere(target);
    return base;
  }

  private DataSet opened() {
    return lookup.opened();
  }

  private void requireWhole() {
    if (opened().facts().approximate()) {
      throw new IllegalArgumentException(
          opened().location()
              + " is approximate: it keeps no keys, so it cannot be the base of a build");
    }
    if (opened().partialSet() != null) {
      throw new IllegalArgumentException(
          opened().location()
              + " holds only some shards of a set; the base of a build is a whole set, or one"
              + " shard");
    }
  }

  private void requireLike(BuildOptions options) {
    Facts facts = opened().facts();
    requireSame(
        "layout",
        facts.layoutId(),
        Facts.layoutId(options.approximateWidth() > 0 ? null : options.layout()));
    requireSame("signature algorithm", facts.signature(), options.signature());
    requireOneFunction(facts);
    requireSame("seed", facts.hashSeed(), options.seed());
    requireSame("number of shards", facts.shards(), options.shards());
    OptionalInt alone =
        opened().isSet() || facts.shards() == 1
            ? OptionalInt.empty()
            : OptionalInt.of(facts.shard());
    requireSame("only shard", alone, options.onlyShard());
    requireSame("value schema", facts.valueSchema(), options.valueSchema());
    requireSame("elements of values", facts.valueElements(), options.valueElements());
  }

  /** The records of packed shards are merged in the order of their signatures. */
  private void requireOneFunction(Facts first) {
    for (DatabaseDirectory each :
        first.packed() ? opened().databases() : List.<DatabaseDirectory>of()) {
      if (!SignatureFunction.of(each.facts()).equals(SignatureFunction.of(first))) {
        throw new IllegalArgumentException(
            "the shards of the base "
                + opened().location()
                + " have different signatures, "
                + SignatureFunction.of(first)
                + " and "
                + SignatureFunction.of(each.facts())
                + "; build the set anew");
      }
    }
  }

  private void requireSame(String what, @Nullable Object ofBase, @Nullable Object ofOptions) {
    if (!Objects.equals(ofBase, ofOptions)) {
      throw new IllegalArgumentException(
          "the "
              + what
              + " of the base "
              + opened().location()
              + " is "
              + ofBase
              + ", that of the options "
              + ofOptions
              + "; take BuildOptions.of(base)");
    }
  }

  private void requireElsewhere(Path target) throws IOException {
    if (!Files.exists(target)) {
      return;
    }
    List<Path> own = new ArrayList<>(List.of(opened().path()));
    opened().databases().forEach(each -> own.add(each.path()));
    for (Path directory : own) {
      if (Files.exists(directory) && Files.isSameFile(directory, target)) {
        throw new IllegalArgumentException(
            "the target " + target + " is the base itself; choose another directory");
      }
    }
  }

  /** The number of records. */
  public long records() {
    return opened().records();
  }

  /** Creates the output of a build from this base. */
  public BuildOutput output(BuildOptions options, BuildPlace place, ChunkBuffer chunk)
      throws IOException {
    return opened().isSet()
        ? new ShardSetWriter(
            options, place, chunk, new MergedShards(lookup, options, chunk, new TaggedChange()))
        : new MergeWriter(lookup, 0, options, place, chunk);
  }

  /**
   * Writes the shards of a set from those of a base and their changes. Not thread-safe.
   *
   * @param base a whole set of shards; the caller closes it
   * @param chunk write buffer of all files
   * @param tagged the last change to route
   */
  private record MergedShards(
      Lookup base, BuildOptions options, ChunkBuffer chunk, TaggedChange tagged)
      implements ShardSetWriter.Shards {
    @Override
    public FramedRecord toRoute(FramedRecord record) {
      return tagged.of(record);
    }

    @Override
    public BuildOutput.Written write(
        int number, BuildPlace place, ShardSetWriter.Routed records, AssemblyProgress progress)
        throws IOException {
      try (MergeWriter writer = new MergeWriter(base, number, options, place, chunk)) {
        records.read(1, writer::addTagged);
        return writer.finish(progress);
      }
    }
  }
}
