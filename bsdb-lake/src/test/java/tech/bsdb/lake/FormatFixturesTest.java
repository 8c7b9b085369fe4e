package tech.bsdb.lake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.lake.Builds.bsdb;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same rows in each format, as other writers write them (build-support/format-fixtures.py),
 * give the same database: the same schema, keys and values, byte by byte.
 */
class FormatFixturesTest {
  @TempDir Path folder;

  static List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(resources())) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.endsWith(".parquet"))
          .sorted()
          .toList();
    }
  }

  private static Path resources() {
    try {
      return Path.of(
          Objects.requireNonNull(FormatFixturesTest.class.getResource("/formats")).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("files")
  void theDatabaseIsThatOfParquet(String name) {
    String set = name.substring(0, name.indexOf('-'));

    assertThat(built(name)).isEqualTo(built(set + "-pyarrow.parquet"));
  }

  /** Builds from a file, and returns the schema and all records. */
  private String built(String name) {
    String database = folder.resolve(name).toString();
    List<String> line =
        new ArrayList<>(
            List.of("build", "-i", resources().resolve(name).toString(), "-kf", "k", "-o"));
    line.add(database);
    if (name.endsWith(".orc")) { // the others are written in microseconds
      line.addAll(List.of("--int96", "micros"));
    }
    Builds.Run run = bsdb(line.toArray(String[]::new));
    assertThat(run.code()).as(run.err()).isZero();
    return new String(bsdb("stat", "--schema", "-d", database).out(), UTF_8)
        + new String(bsdb("scan", "-d", database).out(), UTF_8)
        + new String(bsdb("scan", "-d", database, "--json").out(), UTF_8);
  }
}
