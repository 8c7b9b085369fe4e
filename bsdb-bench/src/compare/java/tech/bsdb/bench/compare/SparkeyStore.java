package tech.bsdb.bench.compare;

import com.spotify.sparkey.CompressionType;
import com.spotify.sparkey.Sparkey;
import com.spotify.sparkey.SparkeyReader;
import com.spotify.sparkey.SparkeyWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Sparkey: a log file and a hash table, both mapped. {@code blockSize} is the size in bytes of
 * compressed blocks.
 */
record SparkeyStore(CompressionType compression, int blockSize) implements ComparedStore {
  private static File file(Path directory) {
    return directory.resolve("store.spi").toFile();
  }

  @Override
  public void build(Records records, Path directory) throws IOException {
    try (SparkeyWriter writer = Sparkey.createNew(file(directory), compression, blockSize)) {
      for (Records.KeyValue record : records) {
        writer.put(record.key(), record.value());
      }
      writer.flush();
      writer.writeHash();
    }
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    return new Sparkeys(Sparkey.openSingleThreadedReader(file(directory)), true);
  }

  /**
   * A reader.
   *
   * @param reader reads, for one thread
   * @param original whether the reader is not a duplicate; a duplicate owns nothing and fails when
   *     closed
   */
  private record Sparkeys(SparkeyReader reader, boolean original) implements Reader {
    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      return reader.getAsByteArray(key);
    }

    @Override
    public Reader forAnotherThread() {
      return new Sparkeys(reader.duplicate(), false);
    }

    @Override
    public void close() {
      if (original) {
        reader.close();
      }
    }
  }
}
