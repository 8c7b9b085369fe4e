package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Databases of every released format are read as they were written, and a build today gives the
 * same bytes, except for the content hashes that older ones do not have.
 *
 * <p>Run with {@code -Dbsdb.golden.write=true} it writes the databases anew to {@code
 * src/test/resources/golden}; that is for a format that was never released.
 */
@Tag("jdk")
class GoldenTest {
  @TempDir Path directory;

  @BeforeAll
  static void writeIfAsked() throws Exception {
    if (!Boolean.getBoolean("bsdb.golden.write")) {
      return;
    }
    String classes =
        Path.of(Golden.class.getProtectionDomain().getCodeSource().getLocation().toURI())
            .toString();
    Path resources =
        Path.of(System.getProperty("basedir", "")).resolve("src/test/resources").toAbsolutePath();
    for (Golden golden : Golden.values()) {
      for (Path parent : golden.hashed() ? new Path[] {resources, Path.of(classes)} : new Path[0]) {
        Path target = parent.resolve("golden").resolve(golden.id());
        if (Files.exists(target)) {
          for (Path file : Golden.files(target)) {
            Files.delete(file);
          }
          Files.delete(target);
        }
        golden.build(target);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void itIsReadByEveryEngine(Golden golden) throws Exception {
    Truth truth = golden.truth();
    assertThat(Database.verify(golden.directory(), (done, total) -> {}).records()).isEqualTo(3);
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database =
          Database.open(golden.directory(), OpenOptions.defaults().withEngine(engine))) {
        truth.checkGets(database);
        truth.checkOrder(database);
        assertThat(database.isOrdered())
            .isEqualTo(golden.id().endsWith("ordered") || golden == Golden.V2_HASHED_BLOCKED);
        if (!golden.approximate()) {
          truth.checkScan(database);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBuildTodayGivesTheSameBytes(Golden golden) throws Exception {
    Path built = directory.resolve("built");
    if (golden.hashed()) {
      golden.build(built);
    } else {
      Path hashed = directory.resolve("hashed");
      golden.build(hashed);
      Files.createDirectory(built);
      Forgery.database(hashed, Forgery.withoutHashes(hashed), built);
    }
    assertThat(Golden.files(built).stream().map(Path::getFileName))
        .isEqualTo(Golden.files(golden.directory()).stream().map(Path::getFileName).toList());
    for (Path file : Golden.files(built)) {
      assertThat(file).hasSameBinaryContentAs(golden.directory().resolve(file.getFileName()));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "DICTIONARY", "PACKED_ZSTD"})
  void compressedOnesHoldRealFrames(Golden golden) throws Exception {
    Statistics statistics = Database.statistics(golden.directory());
    boolean packed = golden == Golden.PACKED_ZSTD;
    assertThat(statistics.layout()).isEqualTo(packed ? "packed-compressed" : "compressed");
    assertThat(statistics.dictionaryBytes() > 0).isEqualTo(golden != Golden.COMPRESSED);
    int block = packed ? 4096 + 6 + 1 : 4096; // behind the directory of one bin and a part
    for (Path file : Golden.files(golden.directory())) {
      if (file.getFileName().toString().startsWith("data-")) {
        assertThat(Files.readAllBytes(file)[block] & 1).as("block is not stored").isZero();
      }
    }
  }
}
