package tech.bsdb.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.lake.Builds.bsdb;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.table.TableRecords;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/** Files that are cut, damaged, or of another format. */
@Timeout(600)
class DamagedFilesTest {
  private static final int ROUNDS = 60 * Integer.getInteger("bsdb.rounds", 1);

  @TempDir Path folder;

  private static byte[] fixture(String name) throws Exception {
    return resource("/formats/" + name);
  }

  private static byte[] resource(String name) throws Exception {
    return Files.readAllBytes(
        Path.of(Objects.requireNonNull(DamagedFilesTest.class.getResource(name)).toURI()));
  }

  private static String format(String name) {
    return name.endsWith(".avro") ? "avro" : name.endsWith(".orc") ? "orc" : "arrow";
  }

  /** Reads all rows; returns their number, or the message of what was refused. */
  private static Object read(Path file) throws IOException {
    String name = file.toString();
    TableRequest request = new TableRequest(Builds.options(name), FileSourceOptions.local(), null);
    try (TableRecords records = TableRecords.open(request, TableSource.of(format(name)))) {
      return records
          .forEach(
              (key, keyFrom, keyLength, value, valueFrom, valueLength) -> {}, InputListener.NONE)
          .records();
    } catch (InputException refused) {
      return String.valueOf(refused.getMessage());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nested-fastavro.avro",
        "scalars-snappy.avro",
        "nested-pyarrow.arrow",
        "scalars-zstd.arrows",
        "arrow-lz4.arrows",
        "orcnested-pyorc.orc",
        "orcscalars-uncompressed.orc"
      })
  void aDamagedFileGivesRowsOrAnError(String name) throws Exception {
    byte[] good = fixture(name);
    Random random = new Random(7);
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bad = good.clone();
      for (int flips = random.nextInt(3); flips >= 0; flips--) {
        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      }
      Object found = read(Files.write(folder.resolve(name), bad));
      if (found instanceof String message) {
        refused++;
        assertThat(message).contains(name);
      }
    }
    assertThat(refused).isPositive();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nested-fastavro.avro",
        "nested-pyarrow.arrow",
        "nested-pyarrow.arrows",
        "orcnested-pyorc.orc"
      })
  void aCutFileIsRefusedUnlessItEndsBetweenBlocks(String name) throws Exception {
    byte[] good = fixture(name);
    List<Integer> lengths =
        new ArrayList<>(IntStream.range(0, 40).map(i -> good.length * i / 40).boxed().toList());
    lengths.addAll(List.of(1, 3, 5, 7, 15, good.length - 1, good.length - 5));
    int whole = 0;
    for (int length : lengths) {
      Object found = read(Files.write(folder.resolve(name), Arrays.copyOf(good, length)));
      whole += found instanceof Long ? 1 : 0;
    }
    assertThat(whole).isLessThanOrEqualTo(1); // none can be told to be cut after a block
  }

  @ParameterizedTest
  @CsvSource({
    "a.avro, not an Avro file",
    "a.arrow, not an Arrow file or stream",
    "a.orc, not an ORC file"
  })
  void anotherFormatIsNamed(String name, String message) throws Exception {
    Path file = Files.writeString(folder.resolve(name), "key value\n".repeat(100));
    assertThat(bsdb("build", "-i", file.toString(), "-kf", "k", "-o", folder + "/db").err())
        .contains(name + ": " + message);
    Files.writeString(file, "FEA1 is the first version of Feather");
    if (name.equals("a.arrow")) {
      assertThat(bsdb("build", "-i", file.toString(), "-kf", "k", "-o", folder + "/db").err())
          .contains("Feather file of version 1");
    }
  }

  /** Files whose struct {@code s} has two fields {@code a}. */
  @ParameterizedTest
  @ValueSource(strings = {"two-fields.arrow", "two-fields.orc"})
  void aStructWithTwoFieldsOfANameIsRefused(String name) throws Exception {
    String file = Files.write(folder.resolve(name), resource("/" + name)).toString();

    for (String key : List.of("k", "s.a")) {
      List<String> line = List.of("build", "-i", file, "-kf", key, "-o", folder + "/db");
      assertThat(bsdb(line.toArray(String[]::new)).err())
          .contains(name + ": column s has two fields named a");
    }
    String[] without = {"build", "-i", file, "-kf", "k", "--columns", "k", "-o", folder + "/db"};
    assertThat(bsdb(without).code()).isZero();
  }

  @Test
  void valuesThatNoRowCanHaveMakeBadRowsWithTheirPlaces() throws Exception {
    Path file = Files.write(folder.resolve("a.orc"), fixture("orcscalars-zlib.orc"));
    String rejects = folder + "/rejects";
    Builds.Run run =
        bsdb(
            "build",
            "-i",
            file.toString(),
            "-kf",
            "k",
            "-o",
            folder + "/db",
            "--on-bad-line",
            "skip",
            "--rejects",
            rejects);

    assertThat(run.code()).as(run.err()).isZero();
    assertThat(Files.readString(Path.of(rejects)))
        .contains("a.orc: row 1: a timestamp before 1677 or after 2262 (column t6: --int96 micros")
        .contains("reads it");
  }
}
