package tech.bsdb.tools.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;

/** Columns with other types than those of their files: {@code --int96} and {@code --widen}. */
class WidenedTypesTest {
  private static final long FAR = LocalDate.of(9999, 12, 31).toEpochDay();

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private void file(String name, String columns, Written.Row row) throws Exception {
    Written.file(folder.resolve(name), "message m { required int32 k; " + columns + " }", 1, row);
  }

  private CommandRun build(String... options) {
    List<String> line =
        new ArrayList<>(List.of("build-parquet", "-o", path("db"), "--overwrite", "-i"));
    line.add(path("a.parquet"));
    if (folder.resolve("b.parquet").toFile().exists()) {
      line.addAll(List.of("-i", path("b.parquet")));
    }
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String built(String... options) {
    CommandRun run = build(options);
    assertThat(run.code()).as(run.toString()).isZero();
    return bsdb("scan", "-d", path("db"), "--json").out();
  }

  private static Binary int96(long day, long nanosOfDay) {
    ByteBuffer bytes = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(nanosOfDay).putInt((int) day + 2_440_588);
    return Binary.fromConstantByteArray(bytes.array());
  }

  @Test
  void timestampsOf96BitsInMicrosecondsReachAllYears() throws Exception {
    file(
        "a.parquet",
        "required int96 t;",
        (row, i) -> row.append("k", 1).append("t", int96(FAR, 1_999)));

    CommandRun refused = build("-kf", "k");
    assertThat(refused.code()).as(refused.toString()).isEqualTo(2);
    assertThat(refused.err())
        .contains(
            "a timestamp before 1677 or after 2262 (INT96 column t; --int96 micros reads it)");
    String far = "9999-12-31T00:00:00.000001Z";
    assertThat(built("-kf", "k", "--int96", "micros"))
        .isEqualTo("{\"key\":\"1\",\"value\":{\"k\":1,\"t\":\"" + far + "\"}}\n");
    assertThat(bsdb("stat", "-d", path("db"), "--schema").out()).contains("timestamp-micros");
    assertThat(built("-kf", "t", "--value-fields", "k", "--int96", "micros"))
        .isEqualTo("{\"key\":\"" + far + "\",\"value\":{\"k\":1}}\n");
    assertThat(build("-kf", "k", "--int96", "millis").err()).contains("--int96", "nanos or micros");
  }

  private static final String MIXED_A =
      "required int64 t (TIMESTAMP(MILLIS,true)); required int32 d (DECIMAL(5,2)); required int32 n;"
          + " required float f; required int64 u; optional int32 c (TIME(MILLIS,true)); optional group"
          + " s { optional int32 n; } optional group l (LIST) { repeated group list { optional int64"
          + " element (TIMESTAMP(MILLIS,false)); } }";
  private static final String MIXED_B =
      "required int96 t; required fixed_len_byte_array(8) d (DECIMAL(18,4)); required double n;"
          + " required double f; required int64 u (INTEGER(64,false)); optional int64 c"
          + " (TIME(MICROS,true)); optional group s { optional double n; } optional group l (LIST) {"
          + " repeated group list { optional int64 element (TIMESTAMP(MICROS,false)); } }";

  private void mixed() throws Exception {
    file(
        "a.parquet",
        MIXED_A,
        (row, i) -> {
          row.append("k", 1).append("t", -1L).append("d", -12345).append("n", Integer.MIN_VALUE);
          row.append("f", 0.1f).append("u", -5L).append("c", 86_399_999);
          row.addGroup("s").append("n", 7);
          row.addGroup("l").addGroup("list").append("element", 1L);
        });
    file(
        "b.parquet",
        MIXED_B,
        (row, i) -> {
          row.append("k", 2).append("t", int96(FAR, 1_000));
          row.append("d", Binary.fromConstantByteArray(new byte[] {0, 0, 0, 0, 0, 1, 0, 0}));
          row.append("n", 0.5).append("f", 0.1).append("u", -1L).append("c", 1L);
          row.addGroup("s").append("n", 7.5);
          row.addGroup("l").addGroup("list").append("element", 1L);
        });
  }

  private static String row(String key, String value) {
    return "{\"key\":\"" + key + "\",\"value\":{" + value.replace('\'', '"') + "}}\n";
  }

  private static final String ROW_1 =
      "'k':1,'t':'1969-12-31T23:59:59.999Z','d':-123.4500,'n':-2.147483648E9,'f':0.10000000149011612,"
          + "'u':-5,'c':'23:59:59.999','s':{'n':7.0},'l':['1970-01-01T00:00:00.001']";
  private static final String ROW_2 =
      "'k':2,'t':'9999-12-31T00:00:00.000001Z','d':6.5536,'n':0.5,'f':0.1,'u':18446744073709551615,"
          + "'c':'00:00:00.000001','s':{'n':7.5},'l':['1970-01-01T00:00:00.000001']";

  @Test
  void columnsGetTheTypeThatHoldsAllValues() throws Exception {
    mixed();

    CommandRun refused = build("-kf", "k");
    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.err())
        .contains("b.parquet: column t is timestamp-nanos", "timestamp-millis; --widen makes it ");
    assertThat(built("-kf", "k", "--widen", "--int96", "micros"))
        .isEqualTo(row("1", ROW_1) + row("2", ROW_2));
    assertThat(build("-kf", "k", "--widen").err())
        .contains("b.parquet: row 1: a timestamp before 1677 or after 2262");
  }

  @Test
  void keysHaveTheTextOfTheWiderType() throws Exception {
    mixed();

    for (String[] key :
        new String[][] {
          {"t", "1969-12-31T23:59:59.999Z", "9999-12-31T00:00:00.000001Z"},
          {"d", "-123.4500", "6.5536"},
          {"n", "-2.147483648E9", "0.5"},
          {"f", "0.10000000149011612", "0.1"},
          {"u", "-5", "18446744073709551615"},
          {"c", "23:59:59.999", "00:00:00.000001"},
          {"s.n", "7.0", "7.5"}
        }) {
      assertThat(
              built("-kf", key[0], "--value-fields", "k", "--widen", "--int96", "micros")
                  .lines()
                  .sorted(Comparator.comparing(line -> line.replaceAll(".*\"k\":", ""))))
          .containsExactly(row(key[1], "'k':1").strip(), row(key[2], "'k':2").strip());
    }
    assertThat(build("-kf", "n", "--value-fields", "k").err()).contains("column n", "--widen");
    assertThat(built("-kf", "f", "--value-fields", "k", "--on-duplicate", "last"))
        .isEqualTo(row("0.1", "'k':2"));
  }

  @Test
  void decimalsOfAllPhysicalTypesGetTheWiderScale() throws Exception {
    file(
        "a.parquet",
        "required int64 l (DECIMAL(18,2)); required binary b (DECIMAL(20,1)); required"
            + " fixed_len_byte_array(9) f (DECIMAL(20,0)); required int32 i; required int32 u"
            + " (INTEGER(32,false)); required int64 z (INTEGER(64,false));",
        (row, i) -> {
          row.append("k", 1).append("l", -999_999_999_999_999_999L);
          row.append("b", Binary.fromConstantByteArray(new byte[] {-1, 0, 1}));
          row.append("f", Binary.fromConstantByteArray(new byte[] {0, -1, 0, 0, 0, 0, 0, 0, 0}));
          row.append("i", Integer.MIN_VALUE).append("u", -1).append("z", -1L);
        });
    file(
        "b.parquet",
        "required binary l (DECIMAL(30,5)); required int32 b (DECIMAL(9,3)); required int32 f"
            + " (DECIMAL(9,9)); required int64 i (DECIMAL(18,1)); required int32 u (DECIMAL(1,1));"
            + " required int32 z (DECIMAL(4,4));",
        (row, i) -> {
          row.append("k", 2).append("l", Binary.fromConstantByteArray(new byte[1])).append("b", -1);
          row.append("f", 1).append("i", 1L).append("u", 1).append("z", 1);
        });

    assertThat(built("-kf", "k", "--widen"))
        .isEqualTo(
            row(
                    "1",
                    "'k':1,'l':-9999999999999999.99000,'b':-6553.500,'f':18374686479671623680.000000000,"
                        + "'i':-2147483648.0,'u':4294967295.0,'z':18446744073709551615.0000")
                + row(
                    "2",
                    "'k':2,'l':0.00000,'b':-0.001,'f':0.000000001,'i':0.1,'u':0.1,'z':0.0001"));
  }

  @Test
  void aTimeThatDoesNotFitItsWiderTypeMakesABadRow() throws Exception {
    file(
        "a.parquet",
        "required int64 t (TIMESTAMP(MILLIS,true));",
        (row, i) -> row.append("k", 1).append("t", FAR * 86_400_000));
    file(
        "b.parquet",
        "required int64 t (TIMESTAMP(NANOS,true));",
        (row, i) -> row.append("k", 2).append("t", 1L));

    CommandRun run = build("-kf", "k", "--widen");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .contains(
            "a.parquet: row 1: a time that does not fit its wider type (column t is timestamp-nanos");
    assertThat(built("-kf", "k", "--widen", "--on-bad-line", "skip"))
        .isEqualTo(row("2", "'k':2,'t':'1970-01-01T00:00:00.000000001Z'"));
  }

  @Test
  void changesGetTheTypesOfTheDatabase() throws Exception {
    mixed();
    built("-kf", "d,s.n", "--key-join", "|", "--widen", "--int96", "micros");
    List<String> line =
        List.of(
            "merge-parquet",
            "-d",
            path("db"),
            "-i",
            path("a.parquet"),
            "-kf",
            "d,s.n",
            "--key-join",
            "|",
            "-o",
            path("new"));
    assertThat(bsdb(line.toArray(String[]::new)).err())
        .contains(
            "key column d is decimal(5,2), but decimal(18,4) in the schema of the database",
            "(--widen gives it that of decimal(18,4))");

    List<String> widened = new ArrayList<>(line);
    widened.addAll(List.of("--widen", "--int96", "micros", "--json"));
    CommandRun run = bsdb(widened.toArray(String[]::new));
    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.out()).contains("\"kept\":1,\"replaced\":1,\"added\":0,");
    assertThat(bsdb("scan", "-d", path("new"), "--json").out())
        .contains(row("-123.4500|7.0", ROW_1), row("6.5536|7.5", ROW_2));
    widened.addAll(List.of("--overwrite", "--delete-field", "n=-2.147483648E9"));
    assertThat(bsdb(widened.toArray(String[]::new)).out())
        .contains("\"kept\":1,\"replaced\":0,\"added\":0,\"deleted\":1,");
  }
}
