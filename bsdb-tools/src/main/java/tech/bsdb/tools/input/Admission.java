package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;

/**
 * The last check of a record: decodes a key and a value in hexadecimal or base64, and checks their
 * lengths.
 */
final class Admission {
  private final Encoding keyEncoding;
  private final Encoding valueEncoding;
  private final boolean allowEmptyKey;

  Admission(InputOptions options) {
    this.keyEncoding = options.keyEncoding();
    this.valueEncoding = options.valueEncoding();
    this.allowEmptyKey = options.allowEmptyKey();
  }

  /** Passes the record on, or returns its defect. */
  @Nullable Defect admit(
      byte[] key,
      int keyFrom,
      int keyLength,
      byte[] value,
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
    if (valueEncoding != Encoding.UTF8) {
      byte[] decoded = decode(valueEncoding, value, valueFrom, valueLength);
      if (decoded == null) {
        return Defect.VALUE_NOT_IN_ENCODING;
      }
      value = decoded;
      valueFrom = 0;
      valueLength = decoded.length;
    }
    Defect ofKey = ofLength(keyLength);
    if (ofKey != null) {
      return ofKey;
    }
    if (valueLength > RecordBatch.MAX_VALUE_LENGTH) {
      return Defect.VALUE_TOO_LONG;
    }
    records.visit(key, keyFrom, keyLength, value, valueFrom, valueLength);
    return null;
  }

  /** Passes the deletion of a key on, or returns its defect. */
  @Nullable Defect admitDeletion(byte[] key, int keyFrom, int keyLength, RecordVisitor records)
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
    Defect ofKey = ofLength(keyLength);
    if (ofKey == null) {
      records.delete(key, keyFrom, keyLength);
    }
    return ofKey;
  }

  private @Nullable Defect ofLength(int keyLength) {
    if (keyLength == 0 && !allowEmptyKey) {
      return Defect.EMPTY_KEY;
    }
    return keyLength > RecordBatch.MAX_KEY_LENGTH ? Defect.KEY_TOO_LONG : null;
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
  // need
  // a copy of the text, and reports each bad record by an exception.
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
