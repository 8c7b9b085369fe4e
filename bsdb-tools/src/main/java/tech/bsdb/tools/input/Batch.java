package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;

/** Good records in transit: a worker adds them, and the reading thread passes them on. */
public interface Batch extends RecordVisitor {
  /** Passes the records on, in order, and clears the batch. */
  void handOn() throws IOException;

  /** A batch whose records are copied, and go to a visitor. */
  static Batch copying(RecordVisitor visitor) {
    return new Batch() {
      private static final int LARGEST_ARRAY = Integer.MAX_VALUE - 8;

      private byte[] bytes = new byte[1 << 12];
      private int used;
      private int[] lengths = new int[1 << 8]; // of key and value in turn
      private int counted;

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
          long larger = Math.max(needed, bytes.length * 2L);
          bytes = Arrays.copyOf(bytes, (int) Math.min(LARGEST_ARRAY, larger));
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
    };
  }

  /** A batch whose records go into a database. */
  static Batch into(DatabaseBuilder builder) {
    RecordBatch records = builder.newBatch();
    return new Batch() {
      @Override
      public void visit(
          byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
        records.add(key, keyFrom, keyLength, value, valueFrom, valueLength);
      }

      @Override
      public void delete(byte[] key, int keyFrom, int keyLength) {
        records.delete(key, keyFrom, keyLength);
      }

      @Override
      public void handOn() throws IOException {
        builder.add(records);
        records.clear();
      }
    };
  }
}
