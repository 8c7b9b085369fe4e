package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.PutFlags;
import org.lmdbjava.Txn;

/**
 * LMDB through lmdbjava. Records are sorted in memory and appended, so that pages are full; each
 * thread reads in one transaction.
 */
record LmdbStore() implements ComparedStore {
  private static final long MAP_BYTES = 64L << 30;

  /** The longest key that LMDB accepts; longer ones fail the comparison. */
  private static final int MAX_KEY = 511;

  @Override
  public void build(Records records, Path directory) throws IOException {
    List<byte[]> sorted = sorted(records);
    try (Env<ByteBuffer> environment =
        Env.create()
            .setMapSize(MAP_BYTES)
            .setMaxDbs(1)
            .open(directory.toFile(), EnvFlags.MDB_NOTLS)) {
      Dbi<ByteBuffer> table = environment.openDbi((String) null, DbiFlags.MDB_CREATE);
      try (Txn<ByteBuffer> transaction = environment.txnWrite()) {
        ByteBuffer key = ByteBuffer.allocateDirect(MAX_KEY);
        ByteBuffer value = ByteBuffer.allocateDirect(1 << 20);
        for (byte[] record : sorted) {
          int keyLength = (record[0] & 0xFF) << 8 | record[1] & 0xFF;
          key.clear().put(record, 2, keyLength).flip();
          value.clear().put(record, 2 + keyLength, record.length - 2 - keyLength).flip();
          table.put(transaction, key, value, PutFlags.MDB_APPEND);
        }
        transaction.commit();
      }
    }
  }

  /** Returns all records in key order: two bytes for the key's length, the key, the value. */
  private static List<byte[]> sorted(Records records) {
    List<byte[]> all = new ArrayList<>(records.count());
    for (Records.KeyValue record : records) {
      byte[] key = record.key();
      byte[] value = record.value();
      byte[] joined =
          Arrays.copyOf(
              new byte[] {(byte) (key.length >>> 8), (byte) key.length},
              2 + key.length + value.length);
      System.arraycopy(key, 0, joined, 2, key.length);
      System.arraycopy(value, 0, joined, 2 + key.length, value.length);
      all.add(joined);
    }
    all.sort(
        (a, b) ->
            Arrays.compareUnsigned(
                a,
                2,
                2 + ((a[0] & 0xFF) << 8 | a[1] & 0xFF),
                b,
                2,
                2 + ((b[0] & 0xFF) << 8 | b[1] & 0xFF)));
    return all;
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    Env<ByteBuffer> environment =
        Env.create()
            .setMapSize(MAP_BYTES)
            .setMaxDbs(1)
            .open(
                directory.toFile(),
                EnvFlags.MDB_RDONLY_ENV,
                EnvFlags.MDB_NOLOCK,
                EnvFlags.MDB_NOTLS);
    return new LmdbReader(environment, environment.openDbi((String) null), true);
  }

  private static final class LmdbReader implements Reader {
    private final Env<ByteBuffer> environment;
    private final Dbi<ByteBuffer> table;
    private final Txn<ByteBuffer> transaction;
    private final Cursor<ByteBuffer> cursor;
    private final boolean closesAll;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MAX_KEY);

    LmdbReader(Env<ByteBuffer> environment, Dbi<ByteBuffer> table, boolean closesAll) {
      this.environment = environment;
      this.table = table;
      this.closesAll = closesAll;
      this.transaction = environment.txnRead();
      this.cursor = table.openCursor(transaction);
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      ByteBuffer found = table.get(transaction, buffer.clear().put(key).flip());
      if (found == null) {
        return null;
      }
      return bytes(found);
    }

    @Override
    public boolean hasRanges() {
      return true;
    }

    @Override
    public int range(byte[] from, byte[][] keys, byte @Nullable [] @Nullable [] values) {
      int count = 0;
      boolean found = cursor.get(buffer.clear().put(from).flip(), GetOp.MDB_SET_RANGE);
      while (found) {
        keys[count] = bytes(cursor.key());
        if (values != null) {
          values[count] = bytes(cursor.val());
        }
        count++;
        found = count < keys.length && cursor.next();
      }
      return count;
    }

    private static byte[] bytes(ByteBuffer shown) {
      byte[] bytes = new byte[shown.remaining()];
      shown.get(bytes);
      return bytes;
    }

    @Override
    public Reader forAnotherThread() {
      return new LmdbReader(environment, table, false);
    }

    @Override
    public void close() {
      cursor.close();
      transaction.close();
      if (closesAll) {
        environment.close();
      }
    }
  }
}
