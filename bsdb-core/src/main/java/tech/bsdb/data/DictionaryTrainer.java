package tech.bsdb.data;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects records as blocks and trains a ZSTD dictionary from them. Not thread-safe. */
public final class DictionaryTrainer {
  /** More sample bytes for each byte of the dictionary gain nothing, says ZSTD's manual. */
  private static final int SAMPLE_PER_DICTIONARY = 100;

  private static final int LEAST_SAMPLES = 11;

  private final int blockSize;
  private final int dictionaryBytes;
  private final long enough;
  private final List<byte[]> blocks = new ArrayList<>();
  private final ByteArrayOutputStream block = new ByteArrayOutputStream();
  private long bytes;

  /** A trainer of a dictionary of at most {@code dictionaryBytes}. */
  public DictionaryTrainer(int blockSize, int dictionaryBytes) {
    this.blockSize = blockSize;
    this.dictionaryBytes = dictionaryBytes;
    this.enough = (long) SAMPLE_PER_DICTIONARY * dictionaryBytes;
  }

  /** Whether more records would be left out. */
  public boolean full() {
    return bytes >= enough;
  }

  /**
   * Adds a part of a record, the last part with {@code end}; large records count with their
   * beginning.
   */
  public void add(byte[] part, int from, int length, boolean end) {
    int room = (1 << 17) - block.size();
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

  /** The dictionary, or null where there is too little to learn from. */
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
      return null; // ZSTD finds too little to learn from; blocks are compressed without a
      // dictionary
    }
  }
}
