package tech.bsdb.tools.input;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** One value of several columns of a row: a JSON object of strings, or a line of CSV. */
final class CsvValue {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private final Format.Csv format;
  private byte[] bytes = new byte[1 << 10];
  private int length;

  CsvValue(Format.Csv format) {
    this.format = format;
  }

  /** Takes the value columns of a row. */
  void set(CsvRow row, CsvHeader header) {
    length = 0;
    if (format.values() == Format.Csv.Values.JSON) {
      setJson(row, header);
    } else {
      setDelimited(row, header);
    }
  }

  /** Has the value at its start; valid until the next one. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  private void setJson(CsvRow row, CsvHeader header) {
    for (int i = 0; i < header.valueCount(); i++) {
      byte[] name = header.jsonName(i);
      int column = header.valueColumn(i);
      reserve(name.length + 6L * row.length(column) + 4); // \u0000 is the longest form of a byte
      bytes[length++] = (byte) (i == 0 ? '{' : ',');
      System.arraycopy(name, 0, bytes, length, name.length);
      length += name.length;
      bytes[length++] = '"';
      for (int at = row.from(column); at < row.to(column); at++) {
        addJson(row.bytes()[at]);
      }
      bytes[length++] = '"';
    }
    bytes[length++] = '}';
  }

  private void addJson(byte b) {
    if (b == '"' || b == '\\') {
      bytes[length++] = '\\';
      bytes[length++] = b;
    } else if (b >= 0 && b < ' ') {
      addJsonControl(b);
    } else {
      bytes[length++] = b;
    }
  }

  private void addJsonControl(byte b) {
    bytes[length++] = '\\';
    switch (b) {
      case '\n' -> bytes[length++] = 'n';
      case '\r' -> bytes[length++] = 'r';
      case '\t' -> bytes[length++] = 't';
      default -> {
        bytes[length++] = 'u';
        bytes[length++] = '0';
        bytes[length++] = '0';
        bytes[length++] = HEX[b >> 4];
        bytes[length++] = HEX[b & 15];
      }
    }
  }

  private void setDelimited(CsvRow row, CsvHeader header) {
    for (int i = 0; i < header.valueCount(); i++) {
      int column = header.valueColumn(i);
      reserve(2L * row.length(column) + 3);
      if (i > 0) {
        bytes[length++] = (byte) format.delimiter();
      }
      boolean quoted = needsQuotes(row, column);
      if (quoted) {
        bytes[length++] = '"';
      }
      for (int at = row.from(column); at < row.to(column); at++) {
        byte b = row.bytes()[at];
        if (b == '"') {
          bytes[length++] = '"';
        }
        bytes[length++] = b;
      }
      if (quoted) {
        bytes[length++] = '"';
      }
    }
  }

  private boolean needsQuotes(CsvRow row, int column) {
    for (int at = row.from(column); at < row.to(column); at++) {
      byte b = row.bytes()[at];
      if (b == '"' || b == '\n' || b == '\r' || b == (byte) format.delimiter()) {
        return true;
      }
    }
    return false;
  }

  private void reserve(long more) {
    if (more > bytes.length - length) {
      long capacity = Math.max(length + more, bytes.length * 2L);
      if (length + more > Integer.MAX_VALUE - 8) {
        throw new OutOfMemoryError("a value of up to " + (length + more) + " bytes");
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, capacity));
    }
  }
}
