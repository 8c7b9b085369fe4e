package tech.bsdb.write;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.error.ForeignRecordException;
import tech.bsdb.format.KeySlots;
import tech.bsdb.hash.SignatureFunction;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Resources;

/**
 * Writes one shard of a set whose other shards are built elsewhere, with the same bytes as {@link
 * ShardSetWriter} does. Not thread-safe.
 *
 * <p>If a dictionary is trained, the records are spilled first, since its samples are spaced evenly
 * over all of them.
 */
final class OneShardWriter implements BuildOutput {
  private final int shard;
  private final int shards;
  private final Resources opened = new Resources();
  private final DatabaseWriter writer;
  private final @Nullable ShardSpill spill;
  private long records;

  /**
   * Creates the files.
   *
   * @param chunk write buffer. The caller closes it, after the writer.
   */
  OneShardWriter(BuildOptions options, BuildPlace place, ChunkBuffer chunk, int shard)
      throws IOException {
    this.shard = shard;
    this.shards = options.shards();
    this.writer = opened.add(new DatabaseWriter(options, place, chunk, shard));
    try {
      this.spill =
          writer.trains()
              ? opened.add(
                  new ShardSpill(
                      place.temporaryDirectory(), "held", 1, SignatureFunction.of(options)))
              : null;
    } catch (IOException | RuntimeException | Error e) {
      opened.closeAfter(e);
      throw e;
    }
  }

  /** Only checks that no record was added: a shard takes samples of its own records. */
  @Override
  public void sample(byte[] key, byte[] value) {
    if (spill == null) {
      writer.sample(key, value); // without a dictionary to train, it only checks, too
    } else if (spill.records() > 0) {
      throw new IllegalStateException("samples come before the records");
    }
  }

  @Override
  public void add(FramedRecord record) throws IOException {
    requireOwn(record, records++, shard, shards);
    if (spill == null) {
      writer.add(record);
    } else {
      spill.add(record);
    }
  }

  /**
   * Fails unless a record belongs to a shard.
   *
   * @param number the number of the record, for the error
   */
  static void requireOwn(FramedRecord record, long number, int shard, int shards) {
    int slot = KeySlots.of(record.head, record.keyStart(), record.keyLength);
    int owner = KeySlots.shard(slot, shards);
    if (owner != shard) {
      byte[] key = new byte[record.keyLength];
      System.arraycopy(record.head, record.keyStart(), key, 0, key.length);
      String built =
          "shard "
              + shard
              + " of "
              + shards
              + " is built, with slots "
              + KeySlots.range(shard, shards);
      throw new ForeignRecordException(key, number, slot, owner, built);
    }
  }

  @Override
  public Written finish(AssemblyProgress progress) throws IOException {
    if (spill != null) {
      spill.finish();
      long step = writer.sampleStep(spill.records(0), spill.sampleBytes(0));
      if (step > 0) {
        read(spill, step, progress, writer::sample);
      }
      read(spill, 1, progress, writer::add);
      spill.drop(0);
    }
    Written written = writer.finish(progress);
    close();
    return written;
  }

  private static void read(
      ShardSpill spill, long step, AssemblyProgress progress, ShardSpill.Records receiver)
      throws IOException {
    spill.read(
        0,
        step,
        record -> {
          progress.checkNotCancelled();
          receiver.take(record);
        });
  }

  @Override
  public void close() throws IOException {
    BuildOutput.closeFiles(opened);
  }
}
