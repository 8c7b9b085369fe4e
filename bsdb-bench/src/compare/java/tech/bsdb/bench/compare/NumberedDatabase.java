package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;

/** Databases of numbered records for the layer benchmarks, built on first use and kept. */
final class NumberedDatabase {
  private NumberedDatabase() {}

  /**
   * Returns a database.
   *
   * @param records the number of records, with 13-byte keys and 32-byte values
   * @param layout a layout, or {@code approximate}
   */
  static Path of(int records, String layout) throws IOException {
    // A rebuilt bsdb-core may write another format, so the time of its jar or classes is part of
    // the name.
    Path core =
        Path.of(
            DatabaseBuilder.class.getProtectionDomain().getCodeSource().getLocation().getPath());
    long version = Files.getLastModifiedTime(core).toMillis() / 1000;
    Path directory =
        Path.of(System.getProperty("bsdb.bench.work", System.getProperty("java.io.tmpdir")))
            .resolve("bsdb-layers")
            .resolve(records + "-" + layout + "-" + version);
    if (!Files.exists(directory)) {
      Files.createDirectories(directory.getParent());
      BuildOptions options = BuildOptions.defaults();
      options =
          layout.equals("approximate")
              ? options.withApproximateWidth(BuildOptions.DEFAULT_APPROXIMATE_WIDTH)
              : options.withLayout(Layout.valueOf(layout.toUpperCase(Locale.ROOT)));
      try (DatabaseBuilder builder = DatabaseBuilder.create(directory, options)) {
        for (int i = 0; i < records; i++) {
          builder.add(DataSet.key(i), DataSet.value(i));
        }
        builder.finish();
      }
    }
    return directory;
  }
}
