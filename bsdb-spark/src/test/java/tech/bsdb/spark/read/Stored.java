package tech.bsdb.spark.read;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.spark.BuildParquet;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;

/** Databases for tests. */
final class Stored {
  private Stored() {}

  /** Builds a database of rows from the Parquet files that Spark writes. */
  static Path rows(Dataset<Row> rows, Path directory, String... options) throws Exception {
    Path parquet = directory.resolve("parquet");
    rows.write().parquet(parquet.toString());
    return fromParquet(parquet, directory.resolve("db"), options);
  }

  static Path fromParquet(Path parquet, Path target, String... options) throws Exception {
    List<String> line = new ArrayList<>(List.of(options));
    line.addAll(List.of("-i", parquet.toString(), "-o", target.toString()));
    BuildParquet.run(line);
    return target;
  }

  /** Builds a database of the keys {@code k0}, {@code k1}, ... and values {@code v0}, ... */
  static Path plain(Path target, int records, BuildOptions options) throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < records; i++) {
        builder.add(("k" + i).getBytes(UTF_8), ("v" + i).getBytes(UTF_8));
      }
      builder.finish();
    }
    return target;
  }

  /** Publishes a database as the current version of a store. */
  static void publish(Path database, Path store, String version) throws Exception {
    PublishOptions options = PublishOptions.defaults().withVersion(version);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      publication.verify();
      publication.goLive(publication.current());
    }
  }
}
