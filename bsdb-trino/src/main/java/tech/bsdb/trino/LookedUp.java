package tech.bsdb.trino;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import tech.bsdb.Database;
import tech.bsdb.LookupBatch;
import tech.bsdb.trino.TablePages.RecordSource;

/** The records of keys, which are looked up in batches. Absent keys have none. */
final class LookedUp implements RecordSource {
  private static final int AT_ONCE = 256;

  private final LookupBatch batch;
  private final Iterator<byte[]> keys;
  private final List<byte[]> asked = new ArrayList<>();
  private int at = -1;

  LookedUp(Database database, Iterator<byte[]> keys) {
    this.batch = database.batch();
    this.keys = keys;
  }

  @Override
  public boolean next() throws IOException {
    while (true) {
      while (++at < asked.size()) {
        if (batch.isPresent(at)) {
          return true;
        }
      }
      if (!keys.hasNext()) {
        return false;
      }
      asked.clear();
      batch.clear();
      while (keys.hasNext() && asked.size() < AT_ONCE) {
        byte[] key = keys.next();
        asked.add(key);
        batch.add(key);
      }
      batch.get();
      at = -1;
    }
  }

  @Override
  public byte[] key() {
    return asked.get(at);
  }

  @Override
  public byte[] bytes() {
    return batch.values();
  }

  @Override
  public int from() {
    return batch.offset(at);
  }

  @Override
  public int length() {
    return batch.length(at);
  }
}
