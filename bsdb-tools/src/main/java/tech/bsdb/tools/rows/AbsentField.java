package tech.bsdb.tools.rows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/** The bytes of a field that is absent from a row's text. */
final class AbsentField {
  private AbsentField() {}

  /**
   * Returns the bytes of the field's default, else those of null if the field is nullable, else
   * null.
   *
   * @throws IllegalArgumentException if the default is not a value of the field's type
   */
  static byte @Nullable [] of(Schema.Field field) {
    DefaultValue.check(field);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    BinaryEncoder out = EncoderFactory.get().directBinaryEncoder(bytes, null);
    try {
      if (field.hasDefaultValue()) {
        Object value = GenericData.get().getDefaultValue(field);
        new GenericDatumWriter<Object>(field.schema()).write(value, out);
      } else if (field.schema().getType() == Schema.Type.UNION) {
        int nullBranch = nullBranch(field.schema());
        if (nullBranch < 0) {
          return null;
        }
        out.writeIndex(nullBranch);
      } else if (field.schema().getType() != Schema.Type.NULL) {
        return null;
      }
      out.flush();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    } catch (AvroRuntimeException | UnsupportedOperationException e) {
      throw new IllegalArgumentException(
          "the default of field \"" + field.name() + "\" cannot be written: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  /** Returns the index of a union's null branch, or -1. */
  static int nullBranch(Schema union) {
    for (int i = 0; i < union.getTypes().size(); i++) {
      if (union.getTypes().get(i).getType() == Schema.Type.NULL) {
        return i;
      }
    }
    return -1;
  }
}
