package tech.bsdb.trino;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.trino.spi.TrinoException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tech.bsdb.trino.CatalogSettings.TableSettings;

final class CatalogSettingsTest {
  @Test
  void readsProperties() {
    CatalogSettings settings =
        CatalogSettings.of(
            Map.of(
                "bsdb.stores", "/stores",
                "bsdb.table.users", "https://data.example.com/users",
                "bsdb.table.users.key", "Country , id",
                "bsdb.table.users.key-join", "/",
                "bsdb.table.users.key-check", "few",
                "bsdb.table.other.text", "false",
                "bsdb.dynamic-filtering.wait-timeout", "2m"));
    assertThat(settings.stores()).isEqualTo("/stores");
    assertThat(settings.filterWait()).isEqualTo(Duration.ofMinutes(2));
    assertThat(settings.table("users"))
        .isEqualTo(
            new TableSettings(
                "https://data.example.com/users", List.of("country", "id"), "/", false, true));
    assertThat(settings.table("other"))
        .isEqualTo(new TableSettings(null, List.of(), "", true, false));
    assertThat(settings.table("third")).isEqualTo(TableSettings.NONE);
  }

  private static void refuses(String message, Map<String, String> properties) {
    assertThatThrownBy(() -> CatalogSettings.of(properties))
        .isInstanceOf(TrinoException.class)
        .hasMessageContaining(message);
  }

  @Test
  void refusesWhatCannotBeMeant() {
    refuses("the catalog has no tables", Map.of());
    refuses(
        "bsdb.store is not a property of this connector, did you mean bsdb.stores?",
        Map.of("bsdb.store", "/stores"));
    refuses(
        "has the properties key, key-join, key-check and text", Map.of("bsdb.table.t.path", "/t"));
    refuses("bsdb.table.t is missing", Map.of("bsdb.table.t.key", "id"));
    refuses("tables are named as in bsdb.table.NAME", Map.of("bsdb.table.a.b.c", "/t"));
    refuses(
        "bsdb.table.t.text is no, neither true nor false",
        Map.of("bsdb.table.t", "/t", "bsdb.table.t.text", "no"));
    refuses(
        "bsdb.table.t.key-check is 5, neither all nor few",
        Map.of("bsdb.table.t", "/t", "bsdb.table.t.key-check", "5"));
    refuses(
        "bsdb.table.t is hdfs://name/t, but tables are directories, or at http or https; copy it to all nodes: bsdb pull hdfs://name/t DIRECTORY",
        Map.of("bsdb.table.t", "hdfs://name/t"));
    refuses(
        "bsdb.stores is s3a://bucket/stores, but must be a directory; pull stores to one",
        Map.of("bsdb.stores", "s3a://bucket/stores"));
    refuses(
        "the key of table t has several columns",
        Map.of("bsdb.table.t", "/t", "bsdb.table.t.key", "a,b"));
    refuses(
        "which is not a time such as 20s or 2m",
        Map.of("bsdb.stores", "/s", "bsdb.dynamic-filtering.wait-timeout", "soon"));
    refuses("bsdb.stores is empty", Map.of("bsdb.stores", ""));
  }
}
