package tech.bsdb.tools.input;

import java.io.IOException;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.RecordBatch;

/** Good records on their way: a worker puts them in, the thread that reads hands them on. */
public interface Batch extends RecordVisitor {

  /** Hands the records on, in their order, and is empty again. */
  void handOn() throws IOException;

  /** A batch whose records a visitor is shown. */
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
      public void handOn() throws IOException {
        builder.add(records);
        records.clear();
      }
    };
  }
}
