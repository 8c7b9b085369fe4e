package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;

/** Records copied one after another, to be passed to a visitor later. */
final class CopiedRecords implements Batch {
  private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

  private final RecordVisitor visitor;
  private byte[] bytes = new byte[1 << 12];
  private int used;
  private int[] lengths = new int[1 << 8]; // of key and value in turn
  private int counted;

  CopiedRecords(RecordVisitor visitor) {
    this.visitor = visitor;
  }

  @Override
  public void visit(
      byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
    reserve((long) keyLength + valueLength);
    System.arraycopy(key, keyFrom, bytes, used, keyLength);
    System.arraycopy(value, valueFrom, bytes, used + keyLength, valueLength);
    used += keyLength + valueLength;
    if (counted == lengths.length) {
      lengths = Arrays.copyOf(lengths, counted * 2);
    }
    lengths[counted++] = keyLength;
    lengths[counted++] = valueLength;
  }

  private void reserve(long more) {
    long needed = used + more;
    if (needed > bytes.length) {
      if (needed > LARGEST_ARRAY) {
        throw new OutOfMemoryError("records of " + needed + " bytes in one chunk");
      }
      bytes =
          Arrays.copyOf(bytes, (int) Math.min(LARGEST_ARRAY, Math.max(needed, bytes.length * 2L)));
    }
  }

  @Override
  public void handOn() throws IOException {
    int at = 0;
    for (int i = 0; i < counted; i += 2) {
      visitor.visit(bytes, at, lengths[i], bytes, at + lengths[i], lengths[i + 1]);
      at += lengths[i] + lengths[i + 1];
    }
    used = 0;
    counted = 0;
  }
}
