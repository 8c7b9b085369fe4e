package tech.bsdb.bench.compare;

import com.spotify.sparkey.CompressionType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;

/** The stores under comparison, by name. A store's classes are loaded only when it is used. */
final class Stores {
  private static final int BLOCK = 4096;

  private static final Map<String, Supplier<ComparedStore>> ALL = new LinkedHashMap<>();

  static {
    BuildOptions options = BuildOptions.defaults().withLayout(Layout.BLOCKED);
    ALL.put("bsdb blocked", () -> new BsdbStore(options));
    ALL.put("bsdb compact", () -> new BsdbStore(options.withLayout(Layout.COMPACT)));
    ALL.put("bsdb packed", () -> new BsdbStore(options.withLayout(Layout.PACKED)));
    ALL.put("bsdb ordered", () -> new BsdbStore(options.withOrderedKeys(true)));
    ALL.put(
        "bsdb packed ordered",
        () -> new BsdbStore(options.withLayout(Layout.PACKED).withOrderedKeys(true)));
    ALL.put("bsdb 8 shards", () -> new BsdbStore(options.withShards(8)));
    ALL.put(
        "bsdb packed 8 shards",
        () -> new BsdbStore(options.withLayout(Layout.PACKED).withShards(8)));
    ALL.put("bsdb zstd", () -> new BsdbStore(options.withLayout(Layout.COMPRESSED)));
    for (int size : new int[] {512, 2048, 4096}) {
      ALL.put(
          "bsdb zstd " + size,
          () -> new BsdbStore(options.withLayout(Layout.COMPRESSED).withBlockSize(size)));
    }
    BuildOptions packed = options.withLayout(Layout.PACKED_COMPRESSED);
    ALL.put("bsdb packed zstd", () -> new BsdbStore(packed));
    for (int size : new int[] {512, 2048, 4096}) {
      ALL.put("bsdb packed zstd " + size, () -> new BsdbStore(packed.withBlockSize(size)));
    }
    ALL.put(
        "bsdb approximate",
        () -> new BsdbStore(options.withApproximateWidth(BuildOptions.DEFAULT_APPROXIMATE_WIDTH)));
    ALL.put("sparkey", () -> new SparkeyStore(CompressionType.NONE, 0));
    ALL.put("sparkey snappy", () -> new SparkeyStore(CompressionType.SNAPPY, BLOCK));
    ALL.put("sparkey zstd", () -> new SparkeyStore(CompressionType.ZSTD, BLOCK));
    ALL.put("paldb", PalDbStore::new);
    ALL.put("rocksdb", () -> new RocksDbStore(org.rocksdb.CompressionType.NO_COMPRESSION, 0));
    ALL.put(
        "rocksdb zstd", () -> new RocksDbStore(org.rocksdb.CompressionType.ZSTD_COMPRESSION, 0));
    ALL.put(
        "rocksdb zstd dictionary",
        () ->
            new RocksDbStore(
                org.rocksdb.CompressionType.ZSTD_COMPRESSION, options.dictionaryBytes()));
    ALL.put("lmdb", LmdbStore::new);
    ALL.put("cdb", CdbStore::new);
    ALL.put("mph-table", MphTableStore::new);
  }

  private Stores() {}

  /** The names of all stores, in the order of the report. */
  static Iterable<String> names() {
    return ALL.keySet();
  }

  /** The name of a store's directory. */
  static String directory(String name) {
    return name.replaceAll("\\W", "-");
  }

  /** A store by name. */
  static ComparedStore of(String name) {
    Supplier<ComparedStore> store = ALL.get(name);
    if (store == null) {
      throw new IllegalArgumentException(
          "unknown store \"" + name + "\"; expected one of " + ALL.keySet());
    }
    return store.get();
  }
}
