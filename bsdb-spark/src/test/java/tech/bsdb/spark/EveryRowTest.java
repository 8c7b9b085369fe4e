package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.spark.rows.SparkValues;
import tech.bsdb.store.Store;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowDecoder;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowSchema;

/** Many rows that Spark writes are read, each of them, in every way that there is. */
class EveryRowTest {
  /** Without the class Rounds, which LocalClusterIT does not have. */
  private static final int ROWS = Integer.getInteger("bsdb.rounds", 1) >= 10 ? 5_000_000 : 400_000;

  private static final int SLICE = 50_000;

  @TempDir private static Path dir;

  @BeforeAll
  static void write() {
    rows()
        .write()
        .format("bsdb")
        .option("key", "id")
        .option("shards", 4)
        .mode("overwrite")
        .save(dir.resolve("store").toString());
  }

  /** As {@link #key}, {@link #name}, {@link #number} and {@link #score} compute them. */
  private static Dataset<Row> rows() {
    return LocalSpark.session()
        .range(0, ROWS, 1, 4)
        .selectExpr(
            "concat('u', id) as id",
            "if(id % 11 = 0, null, concat('name ', id * 7919 % 1000003)) as name",
            "cast(id * 1103515245 % 2147483647 as int) as number",
            "id / 7d as score");
  }

  private static String key(int id) {
    return "u" + id;
  }

  private static String name(int id) {
    return id % 11 == 0 ? null : "name " + id * 7919L % 1_000_003;
  }

  private static int number(int id) {
    return (int) (id * 1_103_515_245L % 2_147_483_647);
  }

  private static double score(int id) {
    return id / 7d;
  }

  /** Takes the ids from one to below another. */
  private interface Slice {
    void check(int from, int to) throws Exception;
  }

  /** Checks all ids on all processors; throws the first failure. */
  private static void forAll(Slice slice) {
    IntStream.range(0, ROWS / SLICE)
        .parallel()
        .forEach(
            number -> {
              try {
                slice.check(number * SLICE, (number + 1) * SLICE);
              } catch (Exception e) {
                throw new AssertionError("rows from " + number * SLICE, e);
              }
            });
  }

  private static Database open() throws IOException {
    Path store = dir.resolve("store");
    return Database.open(store.resolve(Store.open(store).current()));
  }

  private static RowDecoder decoder(Database database) {
    return new RowDecoder(RowForm.of(RowSchema.stored(database.statistics())), new SparkValues());
  }

  private static void requireRow(int id, byte[] value, RowDecoder decoder) throws BadRowException {
    if (value == null) {
      throw new AssertionError(key(id) + " is absent");
    }
    Object[] row = decoder.decode(value, 0, value.length);
    boolean same =
        row.length == 4
            && row[0].equals(UTF8String.fromString(key(id)))
            && (row[1] == null ? name(id) == null : row[1].equals(UTF8String.fromString(name(id))))
            && row[2].equals(number(id))
            && row[3].equals(score(id));
    if (!same) {
      throw new AssertionError(key(id) + " is " + List.of(row));
    }
  }

  @Test
  void eachIsFoundByItsKey() throws IOException {
    try (Database database = open()) {
      forAll(
          (from, to) -> {
            RowDecoder decoder = decoder(database);
            for (int id = from; id < to; id++) {
              requireRow(id, database.get(key(id).getBytes(UTF_8)), decoder);
            }
          });
      assertThat(database.statistics().records()).isEqualTo(ROWS);
      assertThat(database.get(key(ROWS).getBytes(UTF_8))).isNull();
    }
  }

  @Tag("nightly")
  @Test
  void eachIsFoundAmongManyKeys() throws IOException {
    try (Database database = open()) {
      forAll(
          (from, to) -> {
            RowDecoder decoder = decoder(database);
            for (int first = from; first < to; first += 1_000) {
              List<byte[]> keys = new ArrayList<>();
              for (int id = first; id < first + 1_000; id++) {
                keys.add(key(id).getBytes(UTF_8));
              }
              List<byte[]> values = database.getAll(keys);
              assertThat(values).hasSize(1_000);
              for (int i = 0; i < 1_000; i++) {
                requireRow(first + i, values.get(i), decoder);
              }
            }
          });
    }
  }

  @Tag("nightly")
  @Test
  void eachIsAnsweredByAServer() throws Exception {
    Semaphore clients = new Semaphore(4); // a server refuses more than it has memory for
    try (Served served = Served.of(dir.resolve("store"))) {
      forAll(
          (from, to) -> {
            StringBuilder keys = new StringBuilder();
            for (int id = from; id < to; id++) {
              keys.append(key(id)).append('\n');
            }
            byte[] body = keys.toString().getBytes(UTF_8);
            clients.acquire();
            try (BufferedReader lines =
                new BufferedReader(
                    new InputStreamReader(served.batch("text/plain", "", body), UTF_8))) {
              for (int id = from; id < to; id++) {
                requireLine(id, lines.readLine());
              }
              assertThat(lines.readLine()).isNull();
            } finally {
              clients.release();
            }
          });
    }
  }

  /** The digits of floating-point numbers are compared as numbers. */
  private static void requireLine(int id, String line) {
    String name = name(id) == null ? "null" : '"' + name(id) + '"';
    String start =
        "{\"key\":\""
            + key(id)
            + "\",\"value\":{\"id\":\""
            + key(id)
            + "\",\"name\":"
            + name
            + ",\"number\":"
            + number(id)
            + ",\"score\":";
    if (line == null
        || !line.startsWith(start)
        || !line.endsWith("}}")
        || Double.parseDouble(line.substring(start.length(), line.length() - 2)) != score(id)) {
      throw new AssertionError(key(id) + " is answered with " + line);
    }
  }

  @Tag("nightly")
  @Test
  void sparkReadsTheSameRows() {
    Dataset<Row> stored =
        LocalSpark.session().read().format("bsdb").load(dir.resolve("store").toString());
    assertThat(total(stored)).isEqualTo(total(rows()));
    assertThat(stored.schema().names()).containsExactly("id", "name", "number", "score");
  }

  /** The number of rows, and the sum of the hashes of all of them. */
  static Row total(Dataset<Row> rows) {
    return rows.selectExpr("count(*)", "sum(cast(xxhash64(*) as decimal(38, 0)))").first();
  }
}
