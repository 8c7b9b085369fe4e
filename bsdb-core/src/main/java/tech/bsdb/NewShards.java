package tech.bsdb;

import java.io.IOException;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.write.BuildPlace;

/**
 * Writes the shards of a new set from their records.
 *
 * @param chunk write buffer of all files
 */
record NewShards(BuildOptions options, ChunkBuffer chunk) implements ShardSetWriter.Shards {
  @Override
  public FramedRecord toRoute(FramedRecord record) {
    return record;
  }

  @Override
  public Written write(
      int number, BuildPlace place, ShardSetWriter.Routed records, WriterProgress progress)
      throws IOException {
    try (DatabaseWriter writer =
        new DatabaseWriter(options, place, chunk, number, options.shards())) {
      long step = writer.sampleStep(records.records(), records.sampleBytes());
      if (step > 0) {
        records.read(step, writer::sample);
      }
      records.read(1, writer::add);
      return writer.finish(progress);
    }
  }
}
