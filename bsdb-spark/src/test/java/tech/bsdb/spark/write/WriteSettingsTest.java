package tech.bsdb.spark.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Layout;
import tech.bsdb.spark.options.OptionValues;

/** The layout that options choose, as those of {@code bsdb build} do. */
class WriteSettingsTest {
  private static BuildOptions build(String... options) {
    Map<String, String> given = new HashMap<>(Map.of("path", "store", "key", "id"));
    for (int i = 0; i < options.length; i += 2) {
      given.put(options[i], options[i + 1]);
    }
    WriteSettings settings =
        WriteSettings.of(new OptionValues(new CaseInsensitiveStringMap(given)));
    return settings.build(0, null, 1, Path.of("temporary"));
  }

  @Test
  void packedIsTheDefault() {
    assertThat(build().layout()).isEqualTo(Layout.PACKED);
    assertThat(build("filterBits", "8", "shards", "3").layout()).isEqualTo(Layout.PACKED);
  }

  @ParameterizedTest
  @CsvSource({
    "ordered, true",
    "hash, ptr",
    "hash, gov",
    "checksumBits, 4",
    "checksumBits, 9",
    "approximateWidth, 8"
  })
  void optionsThatPackedDoesNotHaveChooseBlocked(String option, String value) {
    assertThat(build(option, value).layout()).isEqualTo(Layout.BLOCKED);
    assertThatThrownBy(() -> build(option, value, "filterBits", "8"))
        .hasMessageStartingWith("filterBits goes with the layouts packed and packed-compressed");
  }

  @Test
  void aNamedLayoutCounts() {
    assertThat(build("ordered", "true", "layout", "packed").layout()).isEqualTo(Layout.PACKED);
    assertThat(build("layout", "blocked").layout()).isEqualTo(Layout.BLOCKED);
    assertThat(build("layout", "compressed", "hash", "gov").layout()).isEqualTo(Layout.COMPRESSED);
  }
}
