package tech.bsdb.tools.avro;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.table.FileTable;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableRecords;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/**
 * Random rows of random schemas, whose types Avro encodes as a database does: each value is what
 * Avro's own writer makes of the row.
 */
class AvroRowsTest {
  private static final int ROWS = 300;

  @TempDir Path folder;

  private int types;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
  void everyRowIsWhatAvroEncodes(long seed) throws Exception {
    Random random = new Random(seed);
    List<Schema.Field> fields = new ArrayList<>();
    fields.add(new Schema.Field("k", Schema.create(Schema.Type.STRING)));
    for (int i = 0; i < 1 + random.nextInt(6); i++) {
      fields.add(new Schema.Field("f" + i, maybe(schema(random, 3), random)));
    }
    Schema schema = Schema.createRecord("row", null, null, false, fields);
    Map<String, byte[]> expected = new TreeMap<>();
    Path file = folder.resolve("rows.avro");
    try (DataFileWriter<GenericRecord> writer =
        new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(schema))
            .setCodec(
                CodecFactory.fromString(
                    List.of("null", "deflate", "snappy", "zstandard").get((int) seed % 4)))
            .setSyncInterval(100 + random.nextInt(5_000))
            .create(schema, file.toFile())) {
      for (int i = 0; i < ROWS; i++) {
        GenericRecord row = (GenericRecord) value(schema, random);
        row.put("k", "key " + i);
        writer.append(row);
        expected.put("key " + i, encoded(schema, row));
        if (random.nextInt(40) == 0) {
          writer.sync();
        }
      }
    }

    assertThat(records(file, 20 + random.nextInt(3_000)))
        .usingRecursiveComparison()
        .isEqualTo(expected);
  }

  private static Map<String, byte[]> records(Path file, long partBytes) throws IOException {
    TableOptions options =
        new TableOptions(
            List.of(file.toString()),
            List.of("k"),
            null,
            List.of(),
            null,
            false,
            OnBadLine.FAIL,
            null,
            false,
            Integer.MAX_VALUE,
            3,
            TableOptions.Partitions.INFER,
            null,
            null,
            TableOptions.Types.DEFAULT,
            null);
    Map<String, byte[]> found = new TreeMap<>();
    try (TableRecords records =
        TableRecords.open(
            new TableRequest(options, FileSourceOptions.local(), null), new Parts(partBytes))) {
      records.forEach(
          (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
              found.put(
                  new String(key, keyFrom, keyLength, StandardCharsets.UTF_8),
                  Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength)),
          InputListener.NONE);
    }
    return found;
  }

  /** Files in parts of so many bytes. */
  private record Parts(long bytes) implements TableSource {
    @Override
    public String format() {
      return "avro";
    }

    @Override
    public Table open(TableRequest request) throws IOException {
      return FileTable.open(request, file -> AvroFile.of(file, bytes));
    }
  }

  private static byte[] encoded(Schema schema, GenericRecord row) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<GenericRecord>(schema).write(row, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }

  private static Schema maybe(Schema schema, Random random) {
    return random.nextBoolean()
        ? Schema.createUnion(Schema.create(Schema.Type.NULL), schema)
        : schema;
  }

  private Schema schema(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 9 : 12)) {
      case 0 -> Schema.create(Schema.Type.BOOLEAN);
      case 1 -> Schema.create(Schema.Type.INT);
      case 2 -> Schema.create(Schema.Type.FLOAT);
      case 3 -> Schema.create(Schema.Type.DOUBLE);
      case 4 -> Schema.create(Schema.Type.STRING);
      case 5 -> Schema.create(Schema.Type.BYTES);
      case 6 -> Schema.createFixed("fixed" + types++, null, null, 1 + random.nextInt(20));
      case 7 ->
          SchemaBuilder.builder().longBuilder().prop("logicalType", "timestamp-micros").endLong();
      case 8 -> Schema.create(Schema.Type.LONG);
      case 9 -> Schema.createArray(maybe(schema(random, depth - 1), random));
      case 10 -> Schema.createMap(maybe(schema(random, depth - 1), random));
      default -> {
        List<Schema.Field> fields = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(4); i++) {
          fields.add(new Schema.Field("g" + i, maybe(schema(random, depth - 1), random)));
        }
        yield Schema.createRecord("record" + types++, null, null, false, fields);
      }
    };
  }

  private @Nullable Object value(Schema schema, Random random) {
    return switch (schema.getType()) {
      case UNION -> random.nextInt(3) == 0 ? null : value(schema.getTypes().get(1), random);
      case BOOLEAN -> random.nextBoolean();
      case INT -> random.nextInt() >> random.nextInt(32);
      case LONG -> random.nextLong() >> random.nextInt(64);
      case FLOAT -> Float.intBitsToFloat(random.nextInt() & 0xFF7FFFFF);
      case DOUBLE -> random.nextGaussian();
      case STRING -> text(random);
      case BYTES -> ByteBuffer.wrap(bytes(random, random.nextInt(30)));
      case FIXED -> new GenericData.Fixed(schema, bytes(random, schema.getFixedSize()));
      case ARRAY -> {
        List<@Nullable Object> values = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          values.add(value(schema.getElementType(), random));
        }
        yield values;
      }
      case MAP -> {
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          values.put(text(random), value(schema.getValueType(), random));
        }
        yield values;
      }
      case RECORD -> {
        GenericRecord record = new GenericData.Record(schema);
        for (Schema.Field field : schema.getFields()) {
          record.put(field.pos(), value(field.schema(), random));
        }
        yield record;
      }
      default -> throw new IllegalArgumentException(schema.toString());
    };
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static String text(Random random) {
    return random
        .ints(random.nextInt(12), 0, 4)
        .mapToObj(i -> List.of("a", "é", "漢", "😀").get(i))
        .reduce("", String::concat);
  }
}
