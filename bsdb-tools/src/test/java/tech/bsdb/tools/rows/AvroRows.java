package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import tech.bsdb.tools.text.JsonBuffer;

/** Rows as Avro's own classes write them, and as they come out in JSON. */
public final class AvroRows {
  private AvroRows() {}

  /**
   * The schema of a record of some fields.
   *
   * @param fields such as {@code {"name":"id","type":"long"}}, with commas between them
   */
  public static RowSchema schema(String fields) {
    return RowSchema.parse("{\"type\":\"record\",\"name\":\"Row\",\"fields\":[" + fields + "]}");
  }

  /** The schema of a record of one field {@code v}. */
  public static RowSchema schemaOf(String type) {
    return schema("{\"name\":\"v\",\"type\":" + type + "}");
  }

  /** A row, from the values of its fields in their order, as {@link GenericData} has them. */
  public static byte[] row(RowSchema schema, Object... values) {
    GenericRecord record = new GenericData.Record(schema.avro());
    for (int i = 0; i < values.length; i++) {
      record.put(i, values[i]);
    }
    return encode(schema.avro(), record);
  }

  static byte[] encode(Schema schema, Object datum) {
    return encode(schema, datum, false);
  }

  /**
   * A datum in bytes.
   *
   * @param blocks whether lists and maps come in blocks that give their length in bytes
   */
  static byte[] encode(Schema schema, Object datum, boolean blocks) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    EncoderFactory factory = new EncoderFactory().configureBlockSize(64);
    BinaryEncoder encoder =
        blocks ? factory.blockingBinaryEncoder(out, null) : factory.directBinaryEncoder(out, null);
    try {
      new GenericDatumWriter<>(schema).write(datum, encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  static String json(RowForm form, byte[] row) throws BadRowException {
    JsonBuffer out = new JsonBuffer();
    new RowJson(form).write(row, 0, row.length, out);
    return new String(out.copy(), UTF_8);
  }
}
