package tech.bsdb.trino;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.List;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.store.Publication;
import tech.bsdb.store.PublishOptions;
import tech.bsdb.tools.rows.JsonRows;
import tech.bsdb.tools.rows.RowSchema;

/** Databases for tests. */
final class Stored {
  private Stored() {}

  /** Builds a database of the keys {@code k0}, {@code k1}, ... and values {@code v0}, ... */
  static Path plain(Path target, int records, String value, BuildOptions options) throws Exception {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, options)) {
      for (int i = 0; i < records; i++) {
        builder.add(("k" + i).getBytes(UTF_8), (value + i).getBytes(UTF_8));
      }
      Object unused = builder.finish();
    }
    return target;
  }

  /** Builds a database of rows. */
  static Path rows(Path target, String schema, String key, List<String> json, BuildOptions options)
      throws Exception {
    RowSchema rows = RowSchema.parse(schema);
    JsonRows encoder = new JsonRows(rows, key, false);
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(target, options.withValueSchema(rows.json()))) {
      for (String line : json) {
        byte[] bytes = line.getBytes(UTF_8);
        Object unused = encoder.encode(bytes, 0, bytes.length);
        builder.add(encoder.key().copy(), encoder.row().copy());
      }
      Object unused = builder.finish();
    }
    return target;
  }

  /** Publishes a database as the current version of a store. */
  static void publish(Path database, Path store, String version) throws Exception {
    PublishOptions options = PublishOptions.defaults().withVersion(version);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      Object unused = publication.goLive(publication.current());
    }
  }
}
