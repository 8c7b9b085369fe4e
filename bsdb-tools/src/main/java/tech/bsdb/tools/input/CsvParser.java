package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.CsvRows;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.Utf8;

/** Parses chunks of CSV rows. */
final class CsvParser implements RecordSyntax.ChunkParser {
  private final CsvScanner row;
  private final Admission admission;
  private final boolean stopAtBad;
  private final CsvValue value;
  private final @Nullable CsvRows rows;
  private final DeleteField.@Nullable Mark mark;

  CsvParser(Format.Csv format, InputOptions options) {
    this.row = new CsvScanner(format.delimiter());
    this.admission = new Admission(options);
    this.stopAtBad = options.onBadLine() == InputOptions.OnBadLine.FAIL;
    this.value = new CsvValue(format);
    Format.Rows typed = format.rows();
    this.rows = typed == null ? null : new CsvRows(typed.schema());
    DeleteField deleteField = options.deleteField();
    this.mark = deleteField == null ? null : deleteField.mark();
  }

  @Override
  public void parse(Chunk chunk) throws IOException {
    boolean valid = Utf8.isValid(chunk.bytes, chunk.from, chunk.to);
    for (int at = chunk.from; at < chunk.to; ) {
      int next = row.next(chunk.bytes, at, chunk.to);
      Defect ofRecord = row.defect(valid);
      Defect defect = ofRecord == null ? handOn(chunk) : ofRecord;
      if (defect == null) {
        chunk.addGood(chunk.units);
      } else {
        String detail = ofRecord == null ? admission.takeDetail() : null;
        chunk.addBad(defect, detail, chunk.units, at, row.textEnd());
        if (stopAtBad) {
          return;
        }
      }
      chunk.units += row.lines();
      at = next;
    }
  }

  private @Nullable Defect handOn(Chunk chunk) throws IOException {
    CsvHeader header = Objects.requireNonNull(chunk.header);
    if (row.fields() != header.columns) {
      return row.fields() < header.columns ? Defect.TOO_FEW_COLUMNS : Defect.TOO_MANY_COLUMNS;
    }
    int key = header.keyColumn;
    int delete = header.deleteColumn;
    if (mark != null && mark.is(row.bytes(delete), row.from(delete), row.length(delete))) {
      return admission.admitDeletion(
          row.bytes(key), row.from(key), row.length(key), chunk.records());
    }
    if (rows != null) {
      return handOnRow(rows, header, chunk);
    }
    if (header.valueColumns.length == 1) {
      int only = header.valueColumns[0];
      return admission.admit(
          row.bytes(key),
          row.from(key),
          row.length(key),
          row.bytes(only),
          row.from(only),
          row.length(only),
          chunk.records());
    }
    value.set(row, header);
    return admission.admit(
        row.bytes(key),
        row.from(key),
        row.length(key),
        value.bytes(),
        0,
        value.length(),
        chunk.records());
  }

  private @Nullable Defect handOnRow(CsvRows typed, CsvHeader header, Chunk chunk)
      throws IOException {
    typed.begin();
    try {
      for (int field = 0; field < header.valueColumns.length; field++) {
        int column = header.valueColumns[field];
        if (column == CsvHeader.ABSENT) {
          typed.putAbsent(field);
        } else {
          typed.put(field, row.bytes(column), row.from(column), row.length(column));
        }
      }
    } catch (BadFieldException bad) {
      return admission.refuse(bad);
    }
    int key = header.keyColumn;
    return admission.admitRow(
        row.bytes(key), row.from(key), row.length(key), typed.row(), chunk.records());
  }

  /** One value from several columns of a row: a JSON object of strings, or a line of CSV. */
  private static final class CsvValue {
    private final Format.Csv format;
    private final JsonBuffer out = new JsonBuffer();

    CsvValue(Format.Csv format) {
      this.format = format;
    }

    /** Sets the value from the value columns of a row, which are UTF-8. */
    void set(CsvScanner row, CsvHeader header) {
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

    private void setJson(CsvScanner row, CsvHeader header) {
      for (int i = 0; i < header.valueColumns.length; i++) {
        int column = header.valueColumns[i];
        out.put(i == 0 ? '{' : ',');
        out.put(header.jsonNames[i]);
        if (!out.putString(row.bytes(column), row.from(column), row.length(column))) {
          throw new IllegalStateException("a row that is not UTF-8 is a bad line");
        }
      }
      out.put('}');
    }

    private void setDelimited(CsvScanner row, CsvHeader header) {
      for (int i = 0; i < header.valueColumns.length; i++) {
        int column = header.valueColumns[i];
        if (i > 0) {
          out.put((byte) format.delimiter());
        }
        if (needsQuotes(row, column)) {
          putQuoted(row, column);
        } else {
          out.put(row.bytes(column), row.from(column), row.length(column));
        }
      }
    }

    private void putQuoted(CsvScanner row, int column) {
      out.put('"');
      byte[] bytes = row.bytes(column);
      int to = row.from(column) + row.length(column);
      for (int at = row.from(column); at < to; at++) {
        byte b = bytes[at];
        if (b == '"') {
          out.put('"');
        }
        out.put(b);
      }
      out.put('"');
    }

    private boolean needsQuotes(CsvScanner row, int column) {
      byte[] bytes = row.bytes(column);
      int to = row.from(column) + row.length(column);
      for (int at = row.from(column); at < to; at++) {
        byte b = bytes[at];
        if (b == '"' || b == '\n' || b == '\r' || b == (byte) format.delimiter()) {
          return true;
        }
      }
      return false;
    }
  }
}
