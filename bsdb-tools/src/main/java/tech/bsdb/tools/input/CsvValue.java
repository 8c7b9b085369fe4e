package tech.bsdb.tools.input;

import tech.bsdb.tools.text.JsonBuffer;

/** One value from several columns of a row: a JSON object of strings, or a line of CSV. */
final class CsvValue {
  private final Format.Csv format;
  private final JsonBuffer out = new JsonBuffer();

  CsvValue(Format.Csv format) {
    this.format = format;
  }

  /** Sets the value from the value columns of a row, which are UTF-8. */
  void set(CsvRow row, CsvHeader header) {
    out.reset();
    if (format.values() == Format.Csv.Values.JSON) {
      setJson(row, header);
    } else {
      setDelimited(row, header);
    }
  }

  /** The array that begins with the value; valid until the next one. */
  byte[] bytes() {
    return out.bytes();
  }

  int length() {
    return out.length();
  }

  private void setJson(CsvRow row, CsvHeader header) {
    for (int i = 0; i < header.valueColumns.length; i++) {
      int column = header.valueColumns[i];
      out.put(i == 0 ? '{' : ',');
      out.put(header.jsonNames[i]);
      if (!out.putString(row.bytes(), row.from(column), row.length(column))) {
        throw new IllegalStateException("a row that is not UTF-8 is a bad line");
      }
    }
    out.put('}');
  }

  private void setDelimited(CsvRow row, CsvHeader header) {
    for (int i = 0; i < header.valueColumns.length; i++) {
      int column = header.valueColumns[i];
      if (i > 0) {
        out.put((byte) format.delimiter());
      }
      if (needsQuotes(row, column)) {
        putQuoted(row, column);
      } else {
        out.put(row.bytes(), row.from(column), row.length(column));
      }
    }
  }

  private void putQuoted(CsvRow row, int column) {
    out.put('"');
    for (int at = row.from(column); at < row.to(column); at++) {
      byte b = row.bytes()[at];
      if (b == '"') {
        out.put('"');
      }
      out.put(b);
    }
    out.put('"');
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
}
