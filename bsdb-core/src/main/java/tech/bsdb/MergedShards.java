package tech.bsdb;

import java.io.IOException;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.lookup.Lookup;
import tech.bsdb.write.BuildPlace;
import tech.bsdb.write.TaggedChange;

/** Writes the shards of a set from those of a base and their changes. Not thread-safe. */
final class MergedShards implements ShardSetWriter.Shards {
  private final Lookup base;
  private final BuildOptions options;
  private final ChunkBuffer chunk;
  private final TaggedChange tagged = new TaggedChange();

  /**
   * Creates the writer of the shards.
   *
   * @param base a whole set of shards; the caller closes it
   * @param chunk write buffer of all files
   */
  MergedShards(Lookup base, BuildOptions options, ChunkBuffer chunk) {
    this.base = base;
    this.options = options;
    this.chunk = chunk;
  }

  @Override
  public FramedRecord toRoute(FramedRecord record) {
    return tagged.of(record);
  }

  @Override
  public Written write(
      int number, BuildPlace place, ShardSetWriter.Routed records, WriterProgress progress)
      throws IOException {
    try (MergeWriter writer = new MergeWriter(base, number, options, place, chunk)) {
      records.read(1, writer::addTagged);
      return writer.finish(progress);
    }
  }
}
