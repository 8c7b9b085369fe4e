package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;
import tech.bsdb.tools.rows.RowConverter;

/**
 * The last check of a record: decodes a key and a value in hexadecimal or base64, converts a typed
 * row to the schema of the stored ones, and checks lengths. For use by one thread.
 */
final class Admission {
  private final Encoding keyEncoding;
  private final Encoding valueEncoding;
  private final boolean allowEmptyKey;
  private final boolean detailed;
  private final @Nullable RowConverter converter;
  private final int longestRow;
  private @Nullable String detail;

  Admission(InputOptions options) {
    this.keyEncoding = options.keyEncoding();
    this.valueEncoding = options.valueEncoding();
    this.allowEmptyKey = options.allowEmptyKey();
    this.detailed = options.showsBadLines();
    Format.Rows rows = options.format().rows();
    this.converter = rows == null ? null : rows.newConverter();
    this.longestRow = rows == null ? 0 : rows.longest();
  }

  /**
   * Passes the record on, or returns its defect.
   *
   * @param value null for the deletion of the key
   */
  @Nullable Defect admit(
      byte[] key,
      int keyFrom,
      int keyLength,
      byte @Nullable [] value,
      int valueFrom,
      int valueLength,
      RecordVisitor records)
      throws IOException {
    if (keyEncoding != Encoding.UTF8) {
      byte[] decoded = decode(keyEncoding, key, keyFrom, keyLength);
      if (decoded == null) {
        return Defect.KEY_NOT_IN_ENCODING;
      }
      key = decoded;
      keyFrom = 0;
      keyLength = decoded.length;
    }
    if (value != null && valueEncoding != Encoding.UTF8) {
      byte[] decoded = decode(valueEncoding, value, valueFrom, valueLength);
      if (decoded == null) {
        return Defect.VALUE_NOT_IN_ENCODING;
      }
      value = decoded;
      valueFrom = 0;
      valueLength = decoded.length;
    }
    if (keyLength == 0 && !allowEmptyKey) {
      return Defect.EMPTY_KEY;
    }
    if (keyLength > RecordBatch.MAX_KEY_LENGTH) {
      return Defect.KEY_TOO_LONG;
    }
    if (valueLength > RecordBatch.MAX_VALUE_LENGTH) {
      return Defect.VALUE_TOO_LONG;
    }
    if (value == null) {
      records.delete(key, keyFrom, keyLength);
    } else {
      records.visit(key, keyFrom, keyLength, value, valueFrom, valueLength);
    }
    return null;
  }

  /** Passes on a record whose value is a typed row, or returns its defect. */
  @Nullable Defect admitRow(
      byte[] key, int keyFrom, int keyLength, RowBuffer encoded, RecordVisitor records)
      throws IOException {
    RowBuffer row = encoded;
    if (converter != null) {
      try {
        row = converter.convert(row.bytes(), 0, row.length());
      } catch (BadRowException bad) {
        detail = detailed ? bad.getMessage() : null;
        return Defect.NOT_OF_SCHEMA;
      }
    }
    if (row.length() > longestRow) {
      return Defect.ROW_TOO_LONG;
    }
    return admit(key, keyFrom, keyLength, row.bytes(), 0, row.length(), records);
  }

  /** Returns the defect of a record whose fields are not those of a typed row. */
  Defect refuse(BadFieldException bad) {
    detail = detailed ? bad.getMessage() : null;
    return bad.isUnknownField() ? Defect.UNKNOWN_FIELD : Defect.NOT_OF_SCHEMA;
  }

  /** Takes a more specific error message for the last defect of a typed row, if there is one. */
  @Nullable String takeDetail() {
    String taken = detail;
    detail = null;
    return taken;
  }

  /** Passes the deletion of a key on, or returns its defect. */
  @Nullable Defect admitDeletion(byte[] key, int keyFrom, int keyLength, RecordVisitor records)
      throws IOException {
    return admit(key, keyFrom, keyLength, null, 0, 0, records);
  }

  private static byte @Nullable [] decode(Encoding encoding, byte[] text, int from, int length) {
    if (encoding == Encoding.HEX) {
      return decodeHex(text, from, length);
    }
    try {
      return Base64.getDecoder().decode(Arrays.copyOfRange(text, from, from + length));
    } catch (IllegalArgumentException bad) {
      return null;
    }
  }

  // Every parsed record passes through here; HexFormat reads characters, not bytes, so it would
  // need a copy of the text, and reports each bad record by an exception.
  private static byte @Nullable [] decodeHex(byte[] text, int from, int length) {
    if (length % 2 != 0) {
      return null;
    }
    byte[] bytes = new byte[length / 2];
    for (int i = 0; i < bytes.length; i++) {
      int high = Character.digit(text[from + 2 * i], 16);
      int low = Character.digit(text[from + 2 * i + 1], 16);
      if ((high | low) < 0) {
        return null;
      }
      bytes[i] = (byte) (high << 4 | low);
    }
    return bytes;
  }
}
