package tech.bsdb.spark.read;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.TaskContext;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database.RecordCursor;
import tech.bsdb.ScanOptions;

/** Reads all records of a part of a database. */
final class ScanReader extends ShardReader {
  private final ShardPlace place;
  private final OpenShard opened;
  private final RecordCursor records;

  ScanReader(
      RecordSplit split,
      RecordRows rows,
      Configuration configuration,
      long cacheBytes,
      @Nullable TaskContext task)
      throws IOException {
    super(rows, task);
    place = split.place();
    opened = OpenShard.open(place, configuration, cacheBytes, this::checkRunning);
    try {
      ScanOptions options = ScanOptions.defaults().withPart(split.part(), split.parts());
      records = opened.database().scan(options.withValues(readsValues()));
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  @Override
  boolean advance() throws IOException {
    if (!records.next()) {
      return false;
    }
    show(place, records);
    return true;
  }

  @Override
  public void close() throws IOException {
    try {
      records.close();
    } finally {
      opened.close();
    }
  }
}
