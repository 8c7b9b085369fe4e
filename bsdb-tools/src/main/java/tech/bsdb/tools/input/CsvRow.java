package tech.bsdb.tools.input;

import de.siegmar.fastcsv.reader.AbstractBaseCsvCallbackHandler;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The fields of the CSV reader's current row. The reader receives each byte as the character of the
 * same value. It inspects only ASCII characters, so every field comes out with its original bytes.
 */
final class CsvRow extends AbstractBaseCsvCallbackHandler<CsvRow> {
  private byte[] bytes = new byte[1 << 10];
  private int[] ends = new int[16];
  private int fields;

  @Override
  protected void handleBegin(long startingLineNumber) {
    fields = 0;
  }

  @Override
  protected void handleField(int index, char[] buffer, int offset, int length, boolean quoted) {
    int start = index == 0 ? 0 : ends[index - 1];
    if (length > bytes.length - start) {
      long larger = Math.max(start + (long) length, bytes.length * 2L);
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, larger));
    }
    for (int i = 0; i < length; i++) {
      bytes[start + i] = (byte) buffer[offset + i];
    }
    if (index == ends.length) {
      ends = Arrays.copyOf(ends, index * 2);
    }
    ends[index] = start + length;
    fields = index + 1;
  }

  @Override
  protected CsvRow buildRecord() {
    return this;
  }

  int fields() {
    return fields;
  }

  /** The array with all fields; valid until the next row. */
  byte[] bytes() {
    return bytes;
  }

  int from(int field) {
    return field == 0 ? 0 : ends[field - 1];
  }

  int to(int field) {
    return ends[field];
  }

  int length(int field) {
    return to(field) - from(field);
  }

  /** The fields as text. */
  List<String> texts() {
    List<String> texts = new ArrayList<>();
    for (int field = 0; field < fields; field++) {
      texts.add(new String(bytes, from(field), length(field), StandardCharsets.UTF_8));
    }
    return texts;
  }
}
