package tech.bsdb.tools.input;

import java.io.IOException;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;

/** Good records in transit: a worker adds them, and the reading thread passes them on. */
public interface Batch extends RecordVisitor {

  /** Passes the records on, in order, and clears the batch. */
  void handOn() throws IOException;

  /** A batch whose records go to a visitor. */
  static Batch copying(RecordVisitor visitor) {
    return new CopiedRecords(visitor);
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
