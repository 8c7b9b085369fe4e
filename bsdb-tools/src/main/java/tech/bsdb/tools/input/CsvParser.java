package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.BadFieldException;
import tech.bsdb.tools.rows.CsvRows;
import tech.bsdb.tools.text.JsonBuffer;
import tech.bsdb.tools.text.Utf8;

/**
 * Parses chunks of CSV rows. Each stretch of good records goes through one CSV reader; bad ones
 * never reach it.
 */
final class CsvParser implements RecordSyntax.ChunkParser {
  private static final int FIELDS = 3;

  private final CsvSyntax syntax;
  private final Admission admission;
  private final boolean stopAtBad;
  private final CsvRow row = new CsvRow();
  private final CsvValue value;
  private final @Nullable CsvRows rows;
  private final DeleteField.@Nullable Mark mark;

  /** For each record of the stretch: its line, its start, the end of its text. */
  private int[] stretch = new int[FIELDS << 8];

  private int stretchRecords;

  CsvParser(CsvSyntax syntax, Format.Csv format, InputOptions options) {
    this.syntax = syntax;
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
    CsvScanner scanner = syntax.newScanner();
    boolean valid = Utf8.isValid(chunk.bytes, chunk.from, chunk.to);
    int at = chunk.from;
    while (at < chunk.to && !(stopAtBad && !chunk.badRecords.isEmpty())) {
      int end = scanner.firstEnd(chunk.bytes, at, chunk.to);
      if (end < 0) {
        end = chunk.to;
        scanner.end(chunk.bytes[end - 1]);
      }
      int textEnd = CsvSyntax.endOfText(chunk.bytes, at, end);
      Defect defect = defect(scanner, chunk.bytes, at, textEnd, valid);
      if (defect == null) {
        addToStretch((int) chunk.lines, at, textEnd);
      } else {
        parseStretch(chunk, at);
        chunk.addBad(defect, null, (int) chunk.lines, at, textEnd);
      }
      chunk.lines += scanner.lines();
      at = end;
    }
    parseStretch(chunk, at);
  }

  private static @Nullable Defect defect(
      CsvScanner scanner, byte[] bytes, int from, int to, boolean valid) {
    if (scanner.defect() != null) {
      return scanner.defect();
    }
    if (from == to) {
      return Defect.EMPTY_LINE;
    }
    return valid || Utf8.isValid(bytes, from, to) ? null : Defect.INVALID_ENCODING;
  }

  private void addToStretch(int line, int from, int textEnd) {
    int at = stretchRecords * FIELDS;
    if (at == stretch.length) {
      stretch = Arrays.copyOf(stretch, at * 2);
    }
    stretch[at] = line;
    stretch[at + 1] = from;
    stretch[at + 2] = textEnd;
    stretchRecords++;
  }

  private void parseStretch(Chunk chunk, int to) throws IOException {
    if (stretchRecords == 0) {
      return;
    }
    Iterator<CsvRow> rows = syntax.rows(row, chunk.bytes, stretch[1], to);
    for (int i = 0; i < stretchRecords * FIELDS; i += FIELDS) {
      rows.next();
      Defect defect = handOn(chunk);
      if (defect == null) {
        chunk.addGood(stretch[i]);
      } else {
        String detail = admission.takeDetail();
        chunk.addBad(defect, detail, stretch[i], stretch[i + 1], stretch[i + 2]);
      }
    }
    if (rows.hasNext()) {
      throw new IllegalStateException("the CSV reader sees more records than " + stretchRecords);
    }
    stretchRecords = 0;
  }

  private @Nullable Defect handOn(Chunk chunk) throws IOException {
    CsvHeader header = Objects.requireNonNull(chunk.header);
    if (row.fields() != header.columns) {
      return row.fields() < header.columns ? Defect.TOO_FEW_COLUMNS : Defect.TOO_MANY_COLUMNS;
    }
    int key = header.keyColumn;
    int delete = header.deleteColumn;
    if (mark != null && mark.is(row.bytes(), row.from(delete), row.length(delete))) {
      return admission.admitDeletion(row.bytes(), row.from(key), row.length(key), chunk.batch);
    }
    if (rows != null) {
      return handOnRow(rows, header, chunk);
    }
    if (header.valueColumns.length == 1) {
      int only = header.valueColumns[0];
      return admission.admit(
          row.bytes(),
          row.from(key),
          row.length(key),
          row.bytes(),
          row.from(only),
          row.length(only),
          chunk.batch);
    }
    value.set(row, header);
    return admission.admit(
        row.bytes(), row.from(key), row.length(key), value.bytes(), 0, value.length(), chunk.batch);
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
          typed.put(field, row.bytes(), row.from(column), row.length(column));
        }
      }
    } catch (BadFieldException bad) {
      return admission.refuse(bad);
    }
    int key = header.keyColumn;
    return admission.admitRow(
        row.bytes(), row.from(key), row.length(key), typed.row(), chunk.batch);
  }

  /** One value from several columns of a row: a JSON object of strings, or a line of CSV. */
  private static final class CsvValue {
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
}
