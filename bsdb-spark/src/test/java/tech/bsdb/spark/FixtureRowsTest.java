package tech.bsdb.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.spark.sql.DataFrameReader;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import scala.Tuple2;
import scala.collection.Iterator;
import tech.bsdb.Database;
import tech.bsdb.Sampled;
import tech.bsdb.store.Store;
import tech.bsdb.tools.rows.RowForm;
import tech.bsdb.tools.rows.RowJson;
import tech.bsdb.tools.rows.RowSchema;
import tech.bsdb.tools.text.JsonBuffer;

/**
 * The Parquet files of pyarrow, DuckDB and Spark: what Spark writes of them has, row by row, what
 * {@code build-parquet} builds of them, through each way to read it.
 */
class FixtureRowsTest {
  private static final Path FIXTURES = Path.of("../bsdb-tools/src/test/resources/parquet");

  /** What is refused, and why: mostly by Spark, which cannot read it. */
  private static final Map<String, String> REFUSED =
      Map.ofEntries(
          Map.entry("codec-brotli", "BrotliCodec"),
          Map.entry("codec-brotli-pages-2", "BrotliCodec"),
          Map.entry("codecs-mixed", "BrotliCodec"),
          Map.entry("duckdb-brotli-v1", "BrotliCodec"),
          Map.entry("duckdb-brotli-v2", "BrotliCodec"),
          Map.entry("damaged-page", "could not verify page integrity"),
          Map.entry("encrypted-columns", "Null File Decryptor"),
          Map.entry("encrypted-footer", "No keys available"),
          Map.entry("folder-that-disagrees", "Failed to merge incompatible data types"),
          Map.entry("duplicate-keys", "the key \"a\" occurs more than once"),
          Map.entry("null-keys", "null key (column k)"));

  /**
   * Why Spark refuses some columns, and which; none if it only wants to be told the types. The
   * other columns are tested.
   */
  private record Partly(String reason, String columns) {}

  private static final Map<String, Partly> PARTLY =
      Map.ofEntries(
          Map.entry("dates-and-times", new Partly("TIME(MILLIS", "time_(s|ms|ns)")),
          Map.entry(
              "decimals-of-256-bits",
              new Partly("precision 39 exceeds max precision 38", "decimal256_(39|[4-7].)_.*")),
          Map.entry("duckdb-intervals", new Partly("INTERVAL", "i")),
          Map.entry("duckdb-types", new Partly("NANOS", "ts_ns|interval|uuid")),
          Map.entry("floats", new Partly("FLOAT16", "half")),
          Map.entry("key-columns", new Partly("UUID", "uuid|ns")),
          Map.entry("nested", new Partly("NANOS", "times")),
          Map.entry("nested-not-compliant", new Partly("NANOS", "times")),
          Map.entry("old-annotations", new Partly("TIME(MILLIS", "time_ms")),
          Map.entry("texts", new Partly("UUID", "uuid")),
          Map.entry("timestamps", new Partly("NANOS", "ts_ns.*")),
          Map.entry("timestamps-extreme", new Partly("NANOS", "ns.*")),
          Map.entry("folder-of-widths", new Partly("Failed to merge", "")),
          Map.entry("folder-of-widths-reversed", new Partly("Failed to merge", "")),
          Map.entry("folder-with-empty", new Partly("Failed to merge", "")));

  /** Encodings that only Spark's slower reader knows. */
  private static final Set<String> ROW_BY_ROW =
      Set.of(
          "duckdb-gzip-v2",
          "duckdb-lz4-raw-v2",
          "duckdb-snappy-v2",
          "duckdb-uncompressed-v2",
          "duckdb-zstd-v2",
          "encoding-split-pages-1",
          "encoding-split-pages-2");

  /** Columns that differ only in upper and lower case, which Spark must be told to respect. */
  private static final String CASES = "names";

  /** Nanoseconds in INT96, of which Spark keeps microseconds (docs/SPARK.md, "Types"). */
  private static final String NANOS = "int96";

  @TempDir Path dir;
  private final SparkSession spark = LocalSpark.session();

  static List<String> fixtures() throws IOException {
    return files().filter(name -> !REFUSED.containsKey(name)).toList();
  }

  static List<String> refused() {
    return REFUSED.keySet().stream().sorted().toList();
  }

  private static Stream<String> files() throws IOException {
    try (Stream<Path> files = Files.list(FIXTURES)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.contains(".jsonl"))
          .map(name -> name.replace(".parquet", ""))
          .sorted()
          .toList()
          .stream();
    }
  }

  private static String source(String fixture) {
    Path several = FIXTURES.resolve(fixture);
    return (Files.isDirectory(several) ? several : FIXTURES.resolve(fixture + ".parquet"))
        .toString();
  }

  @BeforeEach
  void set() {
    spark.conf().set("spark.sql.timeType.enabled", true);
    // Compiling code for each table would take longer than reading it.
    spark.conf().set("spark.sql.codegen.wholeStage", false);
    spark.conf().set("spark.sql.codegen.factoryMode", "NO_CODEGEN");
  }

  @AfterEach
  void unset() {
    spark.conf().unset("spark.sql.timeType.enabled");
    spark.conf().unset("spark.sql.codegen.wholeStage");
    spark.conf().unset("spark.sql.codegen.factoryMode");
    spark.conf().unset("spark.sql.caseSensitive");
    spark.conf().unset("spark.sql.parquet.enableVectorizedReader");
  }

  private DataFrameReader parquet() {
    return spark
        .read()
        .option("mergeSchema", true)
        .option("datetimeRebaseMode", "CORRECTED") // the default of Spark 4
        .option("int96RebaseMode", "CORRECTED")
        .option("parquet.page.verify-checksum.enabled", true);
  }

  private void write(Dataset<Row> rows) {
    rows.write().format("bsdb").option("key", "k").mode("overwrite").save(store().toString());
  }

  private Path store() {
    return dir.resolve("store");
  }

  private void build(String fixture, String... options) throws Exception {
    Path target = dir.resolve("built");
    List<String> line = new ArrayList<>(List.of(options));
    line.addAll(List.of("-i", source(fixture), "-kf", "k", "-o", target + "", "--overwrite", "-q"));
    BuildParquet.run(line);
  }

  private StructType typesOfBuilt() {
    return spark.read().format("bsdb").load(dir.resolve("built").toString()).schema();
  }

  /** Reads what Spark reads, once another database has just that. */
  private Dataset<Row> readAndBuild(String fixture) throws Exception {
    build(fixture);
    Partly partly = PARTLY.get(fixture);
    if (partly == null) {
      return parquet().parquet(source(fixture));
    }
    assertThatThrownBy(() -> parquet().parquet(source(fixture)).collectAsList())
        .hasStackTraceContaining(partly.reason());
    StructType others =
        new StructType(
            Arrays.stream(typesOfBuilt().fields())
                .filter(column -> !column.name().matches(partly.columns()))
                .toArray(StructField[]::new));
    build(fixture, "--value-fields", String.join(",", others.fieldNames()));
    return parquet().schema(others).parquet(source(fixture));
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("fixtures")
  void everyRowIsThatOfBuildParquet(String fixture) throws Exception {
    spark.conf().set("spark.sql.caseSensitive", fixture.equals(CASES));
    spark.conf().set("spark.sql.parquet.enableVectorizedReader", !ROW_BY_ROW.contains(fixture));
    Dataset<Row> rows = readAndBuild(fixture);
    assumeReadable(rows);
    write(rows);

    Dataset<Row> stored = spark.read().format("bsdb").option("key", "k").load(store().toString());
    assertThat(texts(stored)).isEqualTo(texts(rows));
    // Spark reads a column of which Parquet knows no type as one of integers.
    String types = typesOfBuilt().catalogString().replaceAll("([:<])void", "$1int");
    assertThat(stored.schema().catalogString()).isEqualTo(types);

    try (Database one = Database.open(dir.resolve("built"));
        Database other = Database.open(store().resolve(Store.open(store()).current()))) {
      requireSame(fixture, one, other);
    }
  }

  /** Skips a file that the Parquet of an older Spark cannot read. */
  private void assumeReadable(Dataset<Row> rows) {
    if (spark.version().compareTo("4.2") < 0) {
      Throwable failure = catchThrowable(rows::collectAsList);
      while (failure != null && failure.getCause() != null) {
        failure = failure.getCause();
      }
      String why = String.valueOf(failure);
      assumeFalse(
          failure instanceof ParquetDecodingException,
          () -> "Spark " + spark.version() + " cannot read the file: " + why);
    }
  }

  private void requireSame(String fixture, Database built, Database written) throws Exception {
    RowSchema schema = RowSchema.stored(built.statistics());
    Map<String, byte[]> expected = new LinkedHashMap<>();
    try (Database.RecordCursor records = built.scan()) {
      while (records.next()) {
        expected.put(HexFormat.of().formatHex(records.key()), records.value());
      }
    }
    assertThat(written.statistics().records()).isEqualTo(expected.size());
    List<byte[]> keys = expected.keySet().stream().map(HexFormat.of()::parseHex).toList();
    List<byte[]> all = written.getAll(keys);
    List<String> lines = lines(expected.keySet());
    RowSchema writtenSchema = RowSchema.stored(written.statistics());
    boolean sameBytes = writtenSchema.json().equals(schema.json());
    int row = 0;
    for (byte[] value : expected.values()) {
      byte[] key = keys.get(row);
      assertThat(written.get(key)).isEqualTo(all.get(row));
      String json = json(writtenSchema, all.get(row));
      String other = json(schema, value);
      assertThat(json).isEqualTo(fixture.equals(NANOS) ? inMicros(other) : other);
      if (sameBytes) {
        assertThat(all.get(row)).isEqualTo(value);
      }
      assertThat(lines.get(row)).startsWith("{\"key\":").endsWith(",\"value\":" + json + "}");
      row++;
    }
    assertThat(lines).hasSize(row);
  }

  private static String inMicros(String json) {
    return json.replaceAll("(\\.\\d{6})\\d{3}Z", "$1Z").replaceAll("\\.000000Z", "Z");
  }

  /** What a server answers. */
  private List<String> lines(Set<String> hexKeys) throws Exception {
    byte[] body =
        hexKeys.stream().collect(Collectors.joining("\",\"", "[\"", "\"]")).getBytes(UTF_8);
    if (hexKeys.isEmpty()) {
      body = "[]".getBytes(UTF_8);
    }
    try (Served served = Served.of(store());
        InputStream answer = served.batch("application/json", "?key_encoding=hex", body)) {
      return new BufferedReader(new InputStreamReader(answer, UTF_8)).lines().toList();
    }
  }

  private static String json(RowSchema schema, byte[] row) throws Exception {
    JsonBuffer out = new JsonBuffer();
    new RowJson(RowForm.of(schema)).write(row, 0, row.length, out);
    return new String(out.bytes(), 0, out.length(), UTF_8);
  }

  private static List<String> texts(Dataset<Row> rows) {
    return rows.collectAsList().stream().map(FixtureRowsTest::text).sorted().toList();
  }

  /** A text that tells a value, but not whether an integer was a short one: rows have no such. */
  private static String text(Object value) {
    if (value instanceof Row row) {
      List<String> fields = new ArrayList<>();
      for (int i = 0; i < row.length(); i++) {
        fields.add(text(row.get(i)));
      }
      return "row" + fields;
    }
    if (value instanceof scala.collection.Map<?, ?> map) {
      List<String> entries = new ArrayList<>();
      for (Iterator<?> all = map.iterator(); all.hasNext(); ) {
        Tuple2<?, ?> entry = (Tuple2<?, ?>) all.next();
        entries.add(text(entry._1()) + "=" + text(entry._2()));
      }
      Collections.sort(entries);
      return "map" + entries;
    }
    if (value instanceof scala.collection.Iterable<?> list) {
      List<String> elements = new ArrayList<>();
      for (Iterator<?> all = list.iterator(); all.hasNext(); ) {
        elements.add(text(all.next()));
      }
      return "list" + elements;
    }
    if (value instanceof byte[] bytes) {
      return "bytes " + HexFormat.of().formatHex(bytes);
    }
    if (value instanceof Byte || value instanceof Short) {
      return text(((Number) value).intValue());
    }
    return value == null ? "null" : value.getClass().getSimpleName() + " " + value;
  }

  @ParameterizedTest
  @MethodSource
  void refused(String fixture) {
    assertThatThrownBy(() -> write(parquet().parquet(source(fixture))))
        .hasStackTraceContaining(REFUSED.get(fixture));
  }

  @Test
  void everyNameIsThatOfAFile() throws IOException {
    Set<String> files = files().collect(Collectors.toSet());
    assertThat(files)
        .containsAll(REFUSED.keySet())
        .containsAll(PARTLY.keySet())
        .containsAll(ROW_BY_ROW)
        .contains(CASES, NANOS);
  }
}
