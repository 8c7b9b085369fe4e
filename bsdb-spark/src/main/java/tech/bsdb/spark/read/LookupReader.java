package tech.bsdb.spark.read;

import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.spark.read.RowReaders.KeySplit;
import tech.bsdb.spark.read.RowReaders.KeysOfShard;
import tech.bsdb.spark.read.ShardCache.OpenShard;
import tech.bsdb.spark.read.ShardCache.OpenShard.ShardOpener;
import tech.bsdb.spark.read.ShardReader.KeyCheck;

/** Looks up keys, one database after another. */
final class LookupReader extends ShardReader {
  private static final int AT_ONCE = 256;

  private final Iterator<KeysOfShard> shards;
  private final @Nullable KeyCheck check;
  private @Nullable KeysOfShard shard;
  private @Nullable OpenShard opened;

  /** The next keys of the shard, and the values that were found for those before. */
  private int next;

  private List<byte[]> asked = List.of();
  private List<byte @Nullable []> found = List.of();
  private int at;

  LookupReader(KeySplit split, RecordRows rows, @Nullable KeyCheck check, ShardOpener opener) {
    super(rows, opener);
    this.shards = split.shards().iterator();
    this.check = check;
  }

  @Override
  boolean advance() throws IOException {
    while (true) {
      KeysOfShard current = shard;
      if (current == null) {
        return false;
      }
      while (at < found.size()) {
        byte[] value = found.get(at++);
        if (value != null) {
          show(current.place(), asked.get(at - 1), value);
          return true;
        }
      }
      fetch(current);
    }
  }

  /** Opens the first database; called before the first row. */
  LookupReader begin() throws IOException {
    openNext();
    return this;
  }

  private void fetch(KeysOfShard current) throws IOException {
    OpenShard source = opened;
    if (source == null || next == current.keys().size()) {
      openNext();
      return;
    }
    opener.checkRunning();
    int end = Math.min(current.keys().size(), next + AT_ONCE);
    asked = current.keys().subList(next, end);
    found = source.database().getAll(asked);
    at = 0;
    next = end;
  }

  private void openNext() throws IOException {
    close();
    asked = List.of();
    found = List.of();
    at = 0;
    next = 0;
    if (!shards.hasNext()) {
      shard = null;
      return;
    }
    KeysOfShard following = shards.next();
    shard = following;
    OpenShard source = opener.open(following.place());
    opened = source;
    if (check != null) {
      check.check(following.place(), source.database());
    }
  }

  @Override
  public void close() throws IOException {
    OpenShard source = opened;
    opened = null;
    if (source != null) {
      source.close();
    }
  }
}
