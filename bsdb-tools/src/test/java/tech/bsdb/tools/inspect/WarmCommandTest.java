package tech.bsdb.tools.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import com.fasterxml.jackson.core.JsonFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.Layout;
import tech.bsdb.tools.CommandRun;

class WarmCommandTest {
  @TempDir Path folder;

  private Path database;
  private long bytes;

  @BeforeEach
  void build() throws Exception {
    database = folder.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            database, BuildOptions.defaults().withLayout(Layout.BLOCKED).withDataFiles(2))) {
      for (int i = 0; i < 3000; i++) {
        builder.add(("key" + i).getBytes(StandardCharsets.UTF_8), new byte[2000]);
      }
      builder.finish();
    }
    bytes =
        Database.statistics(database).databaseBytes()
            - Files.size(database.resolve("manifest.bsdb"));
  }

  @Test
  void theWholeDatabaseIsReadAndReported() {
    CommandRun run = bsdb("warm", "-d", database.toString());
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .matches(
            String.format(
                "(?s)warmed .+ in [0-9.]+ s: %,d of %,d bytes are in the page cache, [0-9,]+ of"
                    + " them in huge pages\n",
                bytes, bytes));
    assertThat(bsdb("warm", "-q", "-d", database.toString()).err()).isEmpty();
    assertThat(bsdb("verify", "-q", "-d", database.toString()).code()).isZero();
  }

  @Test
  void aPackedDatabaseIsReadAsAWhole() throws Exception {
    Path packed = folder.resolve("packed");
    BuildOptions options = BuildOptions.defaults().withLayout(Layout.PACKED).withDataFiles(2);
    try (DatabaseBuilder builder = DatabaseBuilder.create(packed, options)) {
      for (int i = 0; i < 3000; i++) {
        builder.add(("key" + i).getBytes(StandardCharsets.UTF_8), new byte[2000]);
      }
      builder.finish();
    }
    long all =
        Database.statistics(packed).databaseBytes() - Files.size(packed.resolve("manifest.bsdb"));
    CommandRun run = bsdb("warm", "--json", "-d", packed.toString());
    assertThat(run.code()).as(run.err()).isZero();
    assertThat(run.out()).contains("\"bytes\":" + all + ",", "\"residentBytes\":" + all + ",");
  }

  @Test
  void theJsonReportHasNumbers() throws Exception {
    CommandRun run = bsdb("warm", "--json", "-d", database.toString());
    assertThat(run.out())
        .contains("\"bytes\":" + bytes + ",", "\"residentBytes\":" + bytes + ",")
        .containsPattern("\"hugePageBytes\":[0-9]+,");
    new JsonFactory().createParser(run.out()).close();
  }

  @Test
  void theEngineListEndsWithTheMemoryUse() {
    bsdb("warm", "-q", "-d", database.toString());
    CommandRun run = bsdb("stat", "--engines", "-d", database.toString());
    assertThat(run.out().lines()).hasSize(6);
    assertThat(run.out().lines().skip(5).findFirst().orElseThrow())
        .matches(
            String.format(
                "page cache +%,d of %,d bytes are in the page cache, [0-9,]+ of them in huge pages",
                bytes, bytes));
    assertThat(bsdb("stat", "--engines", "--json", "-d", database.toString()).out())
        .contains("\"memory\":\"available\"")
        .contains("\"bytes\":" + bytes + ",", "\"residentBytes\":" + bytes + ",");
  }
}
