package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tech.bsdb.tools.SeedInFailure;
import tech.bsdb.tools.text.JsonBuffer;

/** Rows that Avro wrote, and what damage makes of them. */
@ExtendWith(SeedInFailure.class)
class RowJsonRandomTest {
  private static final long SEED = SeedInFailure.SEED;
  private static final JsonFactory JSON = new JsonFactory();

  @Test
  void rowsThatAvroWroteAreWhatJavaMakesOfThem() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 60; round++) {
      RandomRows rows = new RandomRows(random);
      RowForm all = RowForm.of(rows.schema());
      List<String> some = new ArrayList<>();
      rows.schema().columns().stream().filter(c -> random.nextBoolean()).forEach(some::add);
      RowForm projected = all.withColumns(some);
      for (int i = 0; i < 10; i++) {
        Map<String, RandomRows.Sample> row = rows.next();
        byte[] bytes =
            AvroRows.encode(rows.schema().avro(), rows.record(row), random.nextBoolean());
        assertThat(AvroRows.json(all, bytes))
            .as("-Dbsdb.seed=%s, round %s", SEED, round)
            .isEqualTo(RandomRows.json(row, rows.schema().columns()));
        assertThat(AvroRows.json(projected, bytes))
            .as("-Dbsdb.seed=%s, round %s", SEED, round)
            .isEqualTo(RandomRows.json(row, some));
      }
    }
  }

  @Test
  void everyTruncationIsSeen() {
    Random random = new Random(SEED);
    for (int round = 0; round < 20; round++) {
      RandomRows rows = new RandomRows(random);
      byte[] row = AvroRows.encode(rows.schema().avro(), rows.record(rows.next()));
      for (RowForm form : forms(rows.schema())) {
        RowJson json = new RowJson(form);
        JsonBuffer out = new JsonBuffer();
        for (int length = 0; length < row.length; length++) {
          assertThat(written(json, row, length, out))
              .as("-Dbsdb.seed=%s, round %s, %s bytes", SEED, round, length)
              .isFalse();
        }
      }
    }
  }

  @Test
  void anyFlippedBitGivesJsonOrARefusal() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 15; round++) {
      RandomRows rows = new RandomRows(random);
      byte[] row = AvroRows.encode(rows.schema().avro(), rows.record(rows.next()), round % 2 == 0);
      for (RowForm form : forms(rows.schema())) {
        RowJson json = new RowJson(form);
        JsonBuffer out = new JsonBuffer();
        for (int bit = 0; bit < Math.min(row.length, 100) * 8; bit++) {
          row[bit >> 3] ^= (byte) (1 << (bit & 7));
          if (written(json, row, row.length, out)) {
            checkJson(out);
          }
          row[bit >> 3] ^= (byte) (1 << (bit & 7));
        }
      }
    }
  }

  @Test
  void anyBytesGiveJsonOrARefusal() throws Exception {
    Random random = new Random(SEED);
    for (int round = 0; round < 150; round++) {
      RandomRows rows = new RandomRows(random);
      byte[] bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      if (round % 2 == 0) {
        for (int i = 0; i < bytes.length; i++) {
          bytes[i] &= (byte) (random.nextInt() & 0x87);
        }
      }
      for (RowForm form : forms(rows.schema())) {
        JsonBuffer out = new JsonBuffer();
        if (written(new RowJson(form), bytes, bytes.length, out)) {
          checkJson(out);
        }
      }
    }
  }

  @Test
  void valuesOfNoBytesComeToAnEnd() {
    String fixed = "{\"type\":\"fixed\",\"name\":\"F\",\"size\":0}";
    String empty = "{\"type\":\"record\",\"name\":\"N\",\"fields\":[]}";
    for (String type : new String[] {"\"null\"", fixed, empty}) {
      RowSchema schema = AvroRows.schemaOf("{\"type\":\"array\",\"items\":" + type + "}");
      byte[] most = new byte[11];
      java.util.Arrays.fill(most, (byte) 0xff);
      most[0] = (byte) 0xfe;
      most[9] = 1;
      byte[] negative = {1, 0, 0};
      for (RowForm form : forms(schema)) {
        assertThat(written(new RowJson(form), most, 11, new JsonBuffer())).isFalse();
        assertThat(written(new RowJson(form), negative, 3, new JsonBuffer()))
            .as("%s", form)
            .isTrue();
      }
      byte[] least = new byte[12];
      java.util.Arrays.fill(least, (byte) 0xff);
      least[9] = 1;
      least[10] = 0;
      assertThat(written(new RowJson(RowForm.of(schema)), least, 12, new JsonBuffer())).isFalse();
    }
  }

  private static List<RowForm> forms(RowSchema schema) {
    RowForm all = RowForm.of(schema);
    return List.of(all, all.withColumns(List.of()));
  }

  private static boolean written(RowJson json, byte[] bytes, int length, JsonBuffer out) {
    out.reset();
    try {
      json.write(bytes, 0, length, out);
      return true;
    } catch (BadRowException e) {
      assertThat(e.getMessage()).isNotEmpty();
      assertThat(out.length()).isZero();
      return false;
    }
  }

  private static void checkJson(JsonBuffer out) throws IOException {
    try (JsonParser parser = JSON.createParser(out.bytes(), 0, out.length())) {
      parser.nextToken();
      parser.skipChildren();
      assertThat(parser.nextToken()).as(new String(out.copy(), UTF_8)).isNull();
    }
  }
}
