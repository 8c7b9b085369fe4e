package tech.bsdb.data;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects records in blocks and trains a ZSTD dictionary on them. Not thread-safe. */
public final class DictionaryTrainer {
  /** Sample bytes per dictionary byte; more gain nothing, according to the ZSTD manual. */
  private static final int SAMPLE_PER_DICTIONARY = 100;

  /** Bytes used of a record at most. */
  public static final int MOST_OF_RECORD = 1 << 17;

  private static final int LEAST_SAMPLES = 11;

  private final int blockSize;
  private final int dictionaryBytes;
  private final long enough;
  private final List<byte[]> blocks = new ArrayList<>();
  private final ByteArrayOutputStream block = new ByteArrayOutputStream();
  private long bytes;

  /** Creates a trainer for a dictionary of at most {@code dictionaryBytes}. */
  public DictionaryTrainer(int blockSize, int dictionaryBytes) {
    this.blockSize = blockSize;
    this.dictionaryBytes = dictionaryBytes;
    this.enough = (long) SAMPLE_PER_DICTIONARY * dictionaryBytes;
  }

  /** Bytes of a sample that is large enough. */
  public long enough() {
    return enough;
  }

  /** Whether the sample is large enough; further records gain nothing. */
  public boolean full() {
    return bytes >= enough;
  }

  /**
   * Adds part of a record; {@code end} marks the last part. Only the beginning of a large record is
   * used.
   */
  public void add(byte[] part, int from, int length, boolean end) {
    int room = MOST_OF_RECORD - block.size();
    block.write(part, from, Math.max(0, Math.min(length, room)));
    if (end && block.size() >= blockSize) {
      endBlock();
    }
  }

  private void endBlock() {
    if (block.size() > 0) {
      blocks.add(block.toByteArray());
      bytes += block.size();
      block.reset();
    }
  }

  /** Trains the dictionary; returns null if there is too little data. */
  public byte @Nullable [] train() {
    endBlock();
    if (blocks.size() < LEAST_SAMPLES || dictionaryBytes < 256) {
      return null;
    }
    byte[] dictionary = new byte[dictionaryBytes];
    try {
      long length = Zstd.trainFromBuffer(blocks.toArray(byte[][]::new), dictionary);
      return Zstd.isError(length) ? null : Arrays.copyOf(dictionary, (int) length);
    } catch (ZstdException e) {
      return null; // too little data for ZSTD; blocks are compressed without a dictionary
    }
  }
}
