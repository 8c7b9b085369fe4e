package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB with 4 KiB blocks and Bloom filters of 10 bits per key, filled without a log and then
 * fully compacted. Opened read-only, with a block cache that holds everything or hardly anything.
 *
 * @param compression the compression of blocks, at RocksDB's default level
 * @param dictionaryBytes size of the dictionary trained per file, 0 for none
 */
record RocksDbStore(CompressionType compression, int dictionaryBytes) implements ComparedStore {
  private static final String LARGE = "cache 4 GiB";
  private static final String SMALL = "cache 8 MiB";
  private static final int BATCH = 1000;

  private Options options(Cache cache) {
    Options options =
        new Options()
            .setTableFormatConfig(
                new BlockBasedTableConfig()
                    .setBlockSize(4096)
                    .setFilterPolicy(new BloomFilter(10, false))
                    .setBlockCache(cache));
    options.setCompressionType(compression).setBottommostCompressionType(compression);
    if (dictionaryBytes > 0) {
      options.setCompressionOptions(dictionary()).setBottommostCompressionOptions(dictionary());
    }
    return options;
  }

  private CompressionOptions dictionary() {
    return new CompressionOptions()
        .setEnabled(true)
        .setMaxDictBytes(dictionaryBytes)
        .setZStdMaxTrainBytes(100 * dictionaryBytes);
  }

  @Override
  public void build(Records records, Path directory) throws IOException {
    RocksDB.loadLibrary();
    try (Cache cache = new LRUCache(8 << 20);
        Options options = options(cache).setCreateIfMissing(true).setIncreaseParallelism(2);
        WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
        RocksDB database = RocksDB.open(options, directory.toString());
        WriteBatch batch = new WriteBatch()) {
      for (Records.KeyValue record : records) {
        batch.put(record.key(), record.value());
        if (batch.count() == BATCH) {
          database.write(unlogged, batch);
          batch.clear();
        }
      }
      database.write(unlogged, batch);
      database.compactRange();
    } catch (RocksDBException e) {
      throw new IOException(e);
    }
  }

  @Override
  public List<String> readings() {
    return List.of(LARGE, SMALL);
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    RocksDB.loadLibrary();
    Cache cache = new LRUCache(reading.equals(LARGE) ? 4L << 30 : 8L << 20);
    Options options = options(cache);
    try {
      RocksDB database = RocksDB.openReadOnly(options, directory.toString());
      return new RocksDbReader(database, options, cache, database.newIterator(), true);
    } catch (RocksDBException e) {
      options.close();
      cache.close();
      throw new IOException(e);
    }
  }

  private record RocksDbReader(
      RocksDB database, Options options, Cache cache, RocksIterator iterator, boolean closesAll)
      implements Reader {
    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      try {
        return database.get(key);
      } catch (RocksDBException e) {
        throw new IOException(e);
      }
    }

    @Override
    public boolean hasRanges() {
      return true;
    }

    @Override
    public int range(byte[] from, byte[][] keys, byte @Nullable [] @Nullable [] values)
        throws IOException {
      int count = 0;
      iterator.seek(from);
      while (iterator.isValid()) {
        keys[count] = iterator.key();
        if (values != null) {
          values[count] = iterator.value();
        }
        count++;
        if (count == keys.length) {
          return count;
        }
        iterator.next();
      }
      try {
        iterator.status();
      } catch (RocksDBException e) {
        throw new IOException(e);
      }
      return count;
    }

    @Override
    public Reader forAnotherThread() {
      return new RocksDbReader(database, options, cache, database.newIterator(), false);
    }

    @Override
    public void close() {
      iterator.close();
      if (closesAll) {
        database.close();
        options.close();
        cache.close();
      }
    }
  }
}
