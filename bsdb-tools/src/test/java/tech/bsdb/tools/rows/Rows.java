package tech.bsdb.tools.rows;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Rows as Avro's own classes read and write them, and schemas in short. */
final class Rows {
  private Rows() {}

  /** A record {@code R} with those fields, in JSON with single quotes. */
  static RowSchema record(String fields) {
    return RowSchema.parse(
        ("{'type':'record','name':'R','fields':[" + fields + "]}").replace('\'', '"'));
  }

  /** A record of one field {@code x}. */
  static RowSchema ofType(String type) {
    return record("{'name':'x','type':" + type + "}");
  }

  /** What Avro reads; all bytes have to be read. */
  static GenericRecord read(RowSchema schema, byte[] row) throws IOException {
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(row, null);
    GenericRecord record = new GenericDatumReader<GenericRecord>(schema.avro()).read(null, decoder);
    if (!decoder.isEnd()) {
      throw new IOException("bytes are left behind the row");
    }
    return record;
  }

  /** What Avro writes. */
  static byte[] write(Schema schema, Object value) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<Object>(schema).write(value, encoder);
    encoder.flush();
    return bytes.toByteArray();
  }

  /** A row from JSON; what is wrong with it is an IllegalArgumentException with the message. */
  static byte[] fromJson(RowSchema schema, String json) {
    return fromJson(new JsonRows(schema, "no such", false), json);
  }

  static byte[] fromJson(JsonRows rows, String json) {
    byte[] bytes = ("#" + json + "#").getBytes(UTF_8);
    try {
      rows.encode(bytes, 1, bytes.length - 1);
      return rows.row().copy();
    } catch (BadFieldException bad) {
      throw new IllegalArgumentException(bad.getMessage(), bad);
    } catch (JsonProcessingException bad) {
      throw new IllegalArgumentException("not JSON", bad);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** A row from the fields of CSV. */
  static byte[] fromCsv(RowSchema schema, String... fields) {
    return fromCsv(new CsvRows(schema), fields);
  }

  static byte[] fromCsv(CsvRows rows, String... fields) {
    rows.begin();
    try {
      for (int i = 0; i < fields.length; i++) {
        byte[] bytes = ("#" + fields[i] + "#").getBytes(UTF_8);
        rows.put(i, bytes, 1, bytes.length - 2);
      }
    } catch (BadFieldException bad) {
      throw new IllegalArgumentException(bad.getMessage(), bad);
    }
    return rows.row().copy();
  }
}
