package tech.bsdb.trino;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.Session;
import io.trino.spi.connector.ColumnMetadata;
import io.trino.spi.connector.SchemaTableName;
import io.trino.spi.type.TypeOperators;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Forgery;
import tech.bsdb.remote.RangeServer;

/** Stores whose versions change, and databases that are damaged. */
final class VersionsTest {
  @TempDir private Path directory;

  private Path publish(String version, int records) throws Exception {
    Path store = directory.resolve("store");
    Path built =
        Stored.plain(
            directory.resolve("built " + version), records, version + " ", BuildOptions.defaults());
    Stored.publish(built, store, version);
    return store;
  }

  private static List<String> rows(Session session, String query) {
    return LocalTrino.rows(session, query);
  }

  @Test
  void aQueryReadsTheCurrentVersionOrTheOneItNames() throws Exception {
    Path store = publish("monday", 10);
    Session session = LocalTrino.catalog(Map.of("bsdb.table.t", store.toString()));
    assertThat(rows(session, "SELECT _value FROM t WHERE _key = 'k1'"))
        .containsExactly("[monday 1]");
    publish("tuesday", 20);
    assertThat(rows(session, "SELECT _value FROM t WHERE _key = 'k1'"))
        .containsExactly("[tuesday 1]");
    assertThat(rows(session, "SELECT count(*) FROM t")).containsExactly("[20]");
    assertThat(rows(session, "SELECT count(*), min(_value) FROM t FOR VERSION AS OF 'monday'"))
        .containsExactly("[10, monday 0]");
    assertThat(
            rows(
                session,
                "SELECT count(*), count(o._key) FROM t n LEFT JOIN t FOR VERSION AS OF 'monday' o ON n._key = o._key"))
        .containsExactly("[20, 10]");
    assertThatThrownBy(() -> rows(session, "SELECT * FROM t FOR VERSION AS OF 'sunday'"))
        .hasMessageContaining("has no version sunday; its versions are monday, tuesday");
    assertThatThrownBy(
            () ->
                rows(
                    session, "SELECT * FROM t FOR TIMESTAMP AS OF TIMESTAMP '2020-01-01 00:00:00'"))
        .hasMessageContaining("versions have names");
  }

  /** Publishes between planning and reading, which the two parts of a transaction are. */
  @Test
  void aTransactionSeesOneVersion() throws Exception {
    Path store = publish("monday", 10);
    Session session = LocalTrino.catalog(Map.of("bsdb.table.t", store.toString()));
    OpenTables open = new OpenTables(new RowTypes(new TypeOperators()));
    CatalogSettings settings = CatalogSettings.of(Map.of("bsdb.table.t", store.toString()));
    try (TableMetadata transaction = new TableMetadata(settings, open, open.types())) {
      BsdbTable before = handle(transaction);
      publish("tuesday", 20);
      BsdbTable after = handle(transaction);
      assertThat(after).isEqualTo(before);
      assertThat(before.version()).isEqualTo("monday");
      try (TableMetadata next = new TableMetadata(settings, open, open.types())) {
        assertThat(handle(next).version()).isEqualTo("tuesday");
        assertThat(open.count()).isEqualTo(2);
      }
    }
    assertThat(open.count()).isEqualTo(1);
    open.close();
    assertThat(open.count()).isZero();
    assertThat(rows(session, "SELECT count(*) FROM t")).containsExactly("[20]");
  }

  @Test
  void listingColumnsOpensNothing() throws Exception {
    Path store = publish("monday", 10);
    CatalogSettings settings = CatalogSettings.of(Map.of("bsdb.table.t", store.toString()));
    try (OpenTables open = new OpenTables(new RowTypes(new TypeOperators()));
        TableMetadata transaction = new TableMetadata(settings, open, open.types())) {
      assertThat(transaction.streamRelationColumns(null, Optional.empty(), all -> all))
          .toIterable()
          .singleElement()
          .satisfies(
              table ->
                  assertThat(table.tableColumns().orElseThrow())
                      .extracting(ColumnMetadata::getName)
                      .containsExactly("_key", "_value"));
      assertThat(open.count()).isZero();
    }
  }

  private static BsdbTable handle(TableMetadata metadata) {
    return (BsdbTable)
        metadata.getTableHandle(
            null, new SchemaTableName("default", "t"), Optional.empty(), Optional.empty());
  }

  @Test
  void aVersionThatIsRemovedOrReplacedFails() throws Exception {
    Path store = publish("monday", 10);
    String id = Database.statistics(store.resolve("monday")).databaseId();
    try (OpenTables open = new OpenTables(new RowTypes(new TypeOperators()))) {
      assertThatThrownBy(() -> open.use("t", store.resolve("sunday").toString(), id))
          .hasMessageContaining("sunday");
      Path other = Stored.plain(directory.resolve("other"), 11, "v", BuildOptions.defaults());
      assertThatThrownBy(() -> open.use("t", other.toString(), id))
          .hasMessageContaining("was replaced while the query ran");
      assertThat(open.count()).isZero();
    }
  }

  /** Overwrites the middle of each data file with other bytes. */
  @Test
  void damageIsTold() throws Exception {
    Path database =
        Stored.plain(directory.resolve("damaged"), 20_000, "v", BuildOptions.defaults());
    Session session = LocalTrino.catalog(Map.of("bsdb.table.t", database.toString()));
    List<Path> files;
    try (Stream<Path> all = Files.walk(database)) {
      files = all.filter(file -> file.getFileName().toString().contains("data")).toList();
    }
    assertThat(files).isNotEmpty();
    for (Path file : files) {
      if (Files.isRegularFile(file)) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          channel.write(ByteBuffer.wrap(new byte[64]), channel.size() / 2);
        }
      }
    }
    assertThatThrownBy(() -> rows(session, "SELECT count(_value) FROM t"))
        .hasMessageContaining("damaged")
        .hasStackTraceContaining("CorruptDatabaseException");
  }

  @Test
  void aSetThatLacksShardsIsRefused() throws Exception {
    Path set =
        Stored.plain(directory.resolve("set"), 1000, "v", BuildOptions.defaults().withShards(3));
    Path part = Forgery.part(set, directory.resolve("part"), 0, 2);
    Session session = LocalTrino.catalog(Map.of("bsdb.table.t", part.toString()));
    assertThatThrownBy(() -> rows(session, "SELECT count(*) FROM t"))
        .hasMessageContaining("holds only the shards 0,2 of 3; a table needs all of them");
  }

  @Test
  void readsDatabasesElsewhere() throws Exception {
    publish("monday", 10);
    publish("tuesday", 20);
    try (RangeServer server = RangeServer.of(directory)) {
      Session session =
          LocalTrino.catalog(Map.of("bsdb.table.t", server.uri().resolve("store").toString()));
      assertThat(rows(session, "SELECT _value FROM t WHERE _key IN ('k1', 'k19', 'k20')"))
          .containsExactly("[tuesday 19]", "[tuesday 1]");
      assertThat(rows(session, "SELECT count(_value) FROM t FOR VERSION AS OF 'monday'"))
          .containsExactly("[10]");
      assertThatThrownBy(() -> rows(session, "SELECT * FROM t FOR VERSION AS OF '../built monday'"))
          .hasMessageContaining("../built monday is not the name of a version");
    }
  }
}
