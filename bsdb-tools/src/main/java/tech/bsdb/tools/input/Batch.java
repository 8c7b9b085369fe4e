package tech.bsdb.tools.input;

import java.io.IOException;
import java.util.Arrays;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;
import tech.bsdb.tools.text.GrowableBytes;

/** Good records in transit: a worker adds them, and the reading thread passes them on. */
public interface Batch extends RecordVisitor {
  /** Passes the records on, in order, and clears the batch. */
  void handOn() throws IOException;

  /** A batch whose records are copied, and go to a visitor. */
  static Batch copying(RecordVisitor visitor) {
    return new Batch() {
      private final GrowableBytes bytes = new GrowableBytes("records of a chunk", 1 << 12) {};
      private int[] lengths = new int[1 << 8]; // of key and value in turn
      private int counted;

      @Override
      public void visit(
          byte[] key, int keyFrom, int keyLength, byte[] value, int valueFrom, int valueLength) {
        bytes.put(key, keyFrom, keyLength);
        bytes.put(value, valueFrom, valueLength);
        if (counted == lengths.length) {
          lengths = Arrays.copyOf(lengths, counted * 2);
        }
        lengths[counted++] = keyLength;
        lengths[counted++] = valueLength;
      }

      @Override
      public void handOn() throws IOException {
        byte[] all = bytes.bytes();
        int at = 0;
        for (int i = 0; i < counted; i += 2) {
          visitor.visit(all, at, lengths[i], all, at + lengths[i], lengths[i + 1]);
          at += lengths[i] + lengths[i + 1];
        }
        bytes.truncate(0);
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
