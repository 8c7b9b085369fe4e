package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Database;
import tech.bsdb.spark.write.WriteFailedException;
import tech.bsdb.store.Store;

/** Tasks that fail, a destination that fails, and what a driver that was killed leaves behind. */
class WriteFaultsTest {
  @TempDir Path dir;

  private static Dataset<Row> rows(long count) {
    return LocalSpark.session()
        .range(0, count, 1, 3)
        .selectExpr("concat('k', id) as id", "id as number");
  }

  private DataFrameWriter<Row> writer(Dataset<Row> rows, String version) {
    return rows.write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 3)
        .option("version", version)
        .option("fs.flaky.impl", FlakyFileSystem.class.getName())
        .mode("overwrite");
  }

  private Path store() {
    return dir.resolve("store");
  }

  private String flaky() {
    return "flaky://" + store();
  }

  private List<String> left() throws IOException {
    try (Stream<Path> entries = Files.list(store())) {
      return entries.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private void requireRecords(String version, long records) throws IOException {
    assertThat(Store.open(store()).current()).isEqualTo(version);
    assertThat(Database.verify(store().resolve(version), (done, total) -> {}).records())
        .isEqualTo(records);
  }

  @BeforeEach
  void healthy() {
    FlakyFileSystem.FAILURES.set(0);
    FlakyFileSystem.start = "";
    FlakyFileSystem.full = false;
    FlakyFileSystem.rival = null;
  }

  @Test
  void aTaskThatReadsRowsAndFailsRunsAgain() throws IOException {
    UDF1<Long, Long> failing =
        number -> {
          if (number == 150 && TaskContext.get().attemptNumber() == 0) {
            throw new IllegalStateException("fails once");
          }
          return number;
        };
    LocalSpark.session().udf().register("fails_once", failing, DataTypes.LongType);
    Dataset<Row> rows =
        rows(300).selectExpr("if(number % 10 = 9, null, id) as id", "fails_once(number) as number");
    Path report = dir.resolve("report.json");
    writer(rows, "one")
        .option("onBadRow", "skip")
        .option("report", report.toString())
        .save(store().toString());
    requireRecords("one", 270);
    assertThat(Files.readString(report)).contains("\"null key\":30");
  }

  @Test
  void aFileThatCannotBeWrittenIsTriedAgain() throws IOException {
    FlakyFileSystem.start = "data-";
    FlakyFileSystem.FAILURES.set(1);
    writer(rows(300), "one").save(flaky());
    requireRecords("one", 300);
    assertThat(FlakyFileSystem.FAILURES.get()).isNegative();
  }

  @Test
  void ifTheDestinationIsFullTheOldVersionStays() throws IOException {
    writer(rows(100), "old").save(flaky());
    FlakyFileSystem.start = "manifest.bsdb";
    FlakyFileSystem.FAILURES.set(1_000_000);
    FlakyFileSystem.full = true;
    assertThatThrownBy(() -> writer(rows(300), "new").save(flaky()))
        .hasStackTraceContaining("the disk of this test is full");
    requireRecords("old", 100);
    assertThat(left()).containsExactly("CURRENT", "old");

    FlakyFileSystem.FAILURES.set(0);
    writer(rows(300), "new").save(flaky());
    requireRecords("new", 300);
  }

  @Test
  void whatAKilledDriverLeftIsRemoved() throws IOException {
    writer(rows(100), "old").save(store().toString());
    Path begun = Files.createDirectories(store().resolve("begun/shard-00001-0123abcd"));
    Files.write(begun.resolve("index-0123abcd.bsdb"), new byte[4096]);
    Files.write(store().resolve("begun/.pushing"), "spark app-1 x\n".getBytes(UTF_8));
    Path unmarked = Files.createDirectories(store().resolve("unmarked/shard-00000-0123abcd"));
    Files.write(unmarked.resolve("index-0123abcd.bsdb"), new byte[4096]);
    Path pushed = Files.createDirectories(store().resolve("pushed"));
    Files.write(pushed.resolve(".pushing"), "0123456789abcdef0123456789abcdef\n".getBytes(UTF_8));
    writer(rows(200), "new").save(store().toString());
    requireRecords("new", 200);
    assertThat(left()).containsExactly("CURRENT", "new", "old", "pushed");
  }

  private void requireOvertaken(DataFrameWriter<Row> writer, String version, String store) {
    assertThatThrownBy(() -> writer.save(store))
        .isInstanceOf(WriteFailedException.class)
        .hasMessageContaining(
            "/store/" + version + ": another write to this store began before this one had ended")
        .hasMessageContaining("Let each write end before the next begins, and repeat this one");
  }

  @ParameterizedTest
  @ValueSource(strings = {"marker", "version", "other marker"})
  void ofTwoWritesAtOnceTheLaterOneWins(String gone) throws IOException {
    String version = store().resolve("mine").toString();
    String marker = version + "/.pushing";
    UDF1<Long, Long> overtaken =
        number -> {
          if (number == 0) { // as another write does that begins now
            Files.deleteIfExists(Path.of(marker));
            if (gone.equals("other marker")) {
              Files.writeString(Path.of(marker), "spark of another");
            } else if (gone.equals("version")) {
              Files.deleteIfExists(Path.of(version));
            }
          }
          return number;
        };
    LocalSpark.session().udf().register("overtaken", overtaken, DataTypes.LongType);
    writer(rows(100), "old").save(store().toString());
    Dataset<Row> rows = rows(100).selectExpr("id", "overtaken(number) as number");
    requireOvertaken(writer(rows, "mine"), "mine", store().toString());
    requireRecords("old", 100);
    assertThat(Files.exists(Path.of(marker))).isEqualTo(gone.equals("other marker"));
  }

  @Test
  void ofTwoWritesThatBeginAtOnceOneGoesOn() throws IOException {
    writer(rows(100), "old").save(flaky());
    FlakyFileSystem.rival = "spark of another";
    requireOvertaken(writer(rows(10), "mine"), "mine", flaky());
    assertThat(store().resolve("mine/.pushing")).hasContent("spark of another");
    requireRecords("old", 100);
  }
}
