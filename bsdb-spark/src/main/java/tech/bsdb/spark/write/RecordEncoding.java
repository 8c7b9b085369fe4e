package tech.bsdb.spark.write;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StringType;
import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;
import tech.bsdb.ShardedBuild;
import tech.bsdb.spark.rows.CellWriter;
import tech.bsdb.spark.rows.ColumnPath;
import tech.bsdb.spark.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Turns the rows of a partition into records, with the shard that each belongs to.
 *
 * @param places the number by which the shuffle finds each shard
 */
record RecordEncoding(RecordPlan plan, WriteSettings settings, int[] places)
    implements Function2<Integer, Iterator<InternalRow>, Iterator<InternalRow>> {
  @Override
  public Iterator<InternalRow> call(Integer partition, Iterator<InternalRow> rows) {
    return new Records(partition, rows);
  }

  /** The records; each is valid until the next. */
  private final class Records implements Iterator<InternalRow> {
    private final int partition;
    private final Iterator<InternalRow> rows;
    private final Integer[] shardPlaces = new Integer[places.length];
    private final KeyWriter[] keyWriters = new KeyWriter[plan.keys().size()];
    private final CellWriter[] valueWriters = new CellWriter[plan.value().size()];
    private final int[] valueOrdinals = new int[plan.value().size()];
    private final RowBuffer key = new RowBuffer();
    private final RowBuffer value = new RowBuffer();
    private final BadRows bad = new BadRows();
    private long row = -1;
    private @Nullable InternalRow ready;
    private boolean ended;

    Records(int partition, Iterator<InternalRow> rows) {
      this.partition = partition;
      this.rows = rows;
      for (int i = 0; i < places.length; i++) {
        shardPlaces[i] = places[i];
      }
      for (int i = 0; i < keyWriters.length; i++) {
        keyWriters[i] = KeyWriter.of(plan.keys().get(i).type(), plan.keys().get(i).name());
      }
      for (int i = 0; i < valueWriters.length; i++) {
        valueOrdinals[i] = plan.value().get(i).ordinal();
        valueWriters[i] =
            settings.typed()
                ? CellWriter.of(plan.value().get(i).field())
                : raw(plan.value().get(i).type());
      }
    }

    private static CellWriter raw(DataType type) {
      if (type instanceof StringType) {
        return (from, ordinal, out) -> out.put(from.getUTF8String(ordinal).getByteBuffer());
      }
      return (from, ordinal, out) -> {
        byte[] bytes = from.getBinary(ordinal);
        out.put(bytes);
      };
    }

    @Override
    public boolean hasNext() {
      while (ready == null && rows.hasNext()) {
        row++;
        ready = record(rows.next());
      }
      if (ready == null && !ended) {
        ended = true;
        if (!bad.isEmpty()) {
          ready = new GenericInternalRow(new Object[] {shardPlaces[0], null, null, bad.encode()});
        }
      }
      return ready != null;
    }

    @Override
    public InternalRow next() {
      boolean more = hasNext();
      InternalRow next = ready;
      if (!more || next == null) {
        throw new NoSuchElementException();
      }
      ready = null;
      return next;
    }

    private @Nullable InternalRow record(InternalRow from) {
      key.reset();
      value.reset();
      for (int i = 0; i < keyWriters.length; i++) {
        ColumnPath place = plan.keys().get(i);
        if (i > 0 && settings.keyJoin() != null) {
          key.putText(settings.keyJoin());
        }
        InternalRow holder = place.holder(from);
        if (holder == null || holder.isNullAt(place.ordinal())) {
          return bad("null key", "column " + place.name());
        }
        try {
          keyWriters[i].write(holder, place.ordinal(), key);
        } catch (BadRowException e) {
          return bad("a key that has no text", "column " + place.name() + ": " + e.getMessage());
        }
      }
      for (int i = 0; i < valueWriters.length; i++) {
        int ordinal = valueOrdinals[i];
        if (!settings.typed() && from.isNullAt(ordinal)) {
          return bad("null value", "column " + plan.value().get(i).name());
        }
        valueWriters[i].write(from, ordinal, value);
      }
      return record(from, key, value);
    }

    private @Nullable InternalRow record(InternalRow from, RowBuffer key, RowBuffer value) {
      if (key.length() == 0 && !settings.allowEmptyKey()) {
        return bad("empty key", "allowEmptyKey allows it");
      }
      if (key.length() > RecordBatch.MAX_KEY_LENGTH) {
        return bad(
            "key longer than " + RecordBatch.MAX_KEY_LENGTH + " bytes", key.length() + " bytes");
      }
      if (value.length() > RecordBatch.MAX_VALUE_LENGTH) {
        return bad(
            "value longer than " + RecordBatch.MAX_VALUE_LENGTH + " bytes",
            value.length() + " bytes");
      }
      if (value.length() > settings.mostValueBytes()) {
        return bad(
            "row longer than the approximate width, which would be cut", value.length() + " bytes");
      }
      int shard = ShardedBuild.shardOf(key.bytes(), 0, key.length(), places.length);
      return new GenericInternalRow(
          new Object[] {shardPlaces[shard], key.copy(), order(from), value.copy()});
    }

    private @Nullable Object order(InternalRow from) {
      ColumnPath place = plan.order();
      if (place == null) {
        return null;
      }
      InternalRow holder = place.holder(from);
      return holder == null ? null : holder.get(place.ordinal(), place.type());
    }

    private @Nullable InternalRow bad(String reason, String detail) {
      if (!settings.skipBadRows()) {
        throw new BadRowsException(
            ("row %s of partition %s: %s (%s); .option(\"onBadRow\", \"skip\") leaves such rows out"
                    + " and counts them")
                .formatted(row + 1, partition, reason, detail));
      }
      bad.add(reason);
      return null;
    }
  }
}
