package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0;
import static org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_2_0;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.SeedInFailure;

/** Files of several writers, and the rows that DuckDB selects (build-support/where-fixtures.py). */
@ExtendWith(SeedInFailure.class)
class WhereFixturesTest {
  private static final Path FOLDER = Path.of("src/test/resources/where");

  /** Something that is never true, and that no statistics can tell, so that all rows are read. */
  private static final String NEVER = " OR word NOT LIKE '%'";

  @TempDir Path folder;

  private static List<JsonNode> conditions() throws Exception {
    List<JsonNode> conditions = new ArrayList<>();
    ObjectMapper json = new ObjectMapper();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(FOLDER.resolve("conditions.jsonl.gz"))),
                UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        conditions.add(json.readTree(line));
      }
    }
    return conditions;
  }

  private static BitSet bits(String hexadecimal) {
    BigInteger number = new BigInteger(hexadecimal, 16);
    BitSet bits = new BitSet();
    for (int i = 0; i < number.bitLength(); i++) {
      bits.set(i, number.testBit(i));
    }
    return bits;
  }

  private static List<Integer> differences(BitSet one, BitSet other) {
    BitSet differences = (BitSet) one.clone();
    differences.xor(other);
    return differences.stream().boxed().toList();
  }

  @ParameterizedTest
  @CsvSource({"pyarrow.parquet", "pyarrow-plain.parquet", "polars.parquet", "duckdb"})
  void theRowsAreThoseOfDuckDb(String input) throws Exception {
    List<JsonNode> conditions = conditions();
    assertThat(conditions).hasSize(1500);
    check(FOLDER.resolve(input), conditions.subList(0, 100));
  }

  @Tag("nightly")
  @ParameterizedTest
  @CsvSource({"pyarrow.parquet", "pyarrow-plain.parquet", "polars.parquet", "duckdb"})
  void theRowsOfAllConditionsAreThoseOfDuckDb(String input) throws Exception {
    check(FOLDER.resolve(input), conditions());
  }

  /** Rewrites the file with row groups, pages, dictionaries and Bloom filters as chance will. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void rowGroupsNeverMatter(int round) throws Exception {
    long seed = SeedInFailure.SEED + round;
    Random random = new Random(seed);
    Path file = folder.resolve("rewritten.parquet");
    MessageType schema;
    List<Group> rows = new ArrayList<>();
    try (ParquetReader<Group> reader =
        new ParquetReader.Builder<Group>(
            new LocalInputFile(FOLDER.resolve("pyarrow.parquet")),
            new PlainParquetConfiguration()) {
          @Override
          protected ReadSupport<Group> getReadSupport() {
            return new GroupReadSupport();
          }
        }.build()) {
      for (Group row = reader.read(); row != null; row = reader.read()) {
        rows.add(row);
      }
      schema = (MessageType) rows.get(0).getType();
    }
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(schema)
            .withRowGroupSize(1000L + random.nextInt(30_000))
            .withPageSize(100 + random.nextInt(1000))
            .withMinRowCountForPageSizeCheck(1)
            .withDictionaryEncoding(random.nextBoolean())
            .withBloomFilterEnabled(random.nextBoolean())
            .withMaxBloomFilterBytes(1024)
            .withWriterVersion(random.nextBoolean() ? PARQUET_1_0 : PARQUET_2_0)
            .build()) {
      for (Group row : rows) {
        writer.write(row);
      }
    }
    List<JsonNode> conditions = new ArrayList<>(conditions());
    Collections.shuffle(conditions, random);
    for (JsonNode condition : conditions.subList(0, 60)) {
      String text = condition.get("where").asText();
      Selected selected = Selected.of(file, text);
      assertThat(differences(selected.ids(), bits(condition.get("ids").asText())))
          .as("%s, round %s", text, round)
          .isEmpty();
    }
  }

  private static void check(Path path, List<JsonNode> conditions) throws Exception {
    long ruledOut = 0;
    long without = 0;
    for (int i = 0; i < conditions.size(); i++) {
      String condition = conditions.get(i).get("where").asText();
      BitSet expected = bits(conditions.get(i).get("ids").asText());
      Selected selected = Selected.of(path, condition);
      assertThat(differences(selected.ids(), expected)).as(condition).isEmpty();
      assertThat(selected.report().lines()).as(condition).isEqualTo(400);
      assertThat(selected.report().leftOut().rows())
          .as(condition)
          .isEqualTo(400 - expected.cardinality());
      ruledOut += selected.report().leftOut().parts();
      for (int first = 0; first < 400; first += 40) {
        without += expected.get(first, first + 40).isEmpty() ? 1 : 0;
      }
      if (i % 5 == 0) {
        Selected all = Selected.of(path, "(" + condition + ")" + NEVER);
        assertThat(differences(all.ids(), expected)).as(condition).isEmpty();
        assertThat(all.report().leftOut().parts()).as(condition).isZero();
      }
    }
    assertThat(ruledOut).as("of row groups without such rows").isBetween(without / 2, without);
  }
}
