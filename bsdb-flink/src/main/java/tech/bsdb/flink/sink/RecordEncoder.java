package tech.bsdb.flink.sink;

import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;
import org.jspecify.annotations.Nullable;
import tech.bsdb.RecordBatch;
import tech.bsdb.ShardedBuild;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.flink.rows.CellWriter;
import tech.bsdb.flink.rows.CellWriter.RowWriter;
import tech.bsdb.flink.rows.KeyWriter;
import tech.bsdb.tools.rows.BadRowException;
import tech.bsdb.tools.rows.RowBuffer;

/**
 * Turns rows into changes of records: the number of the shard, or its complement if the key is
 * deleted; the key; the value.
 */
final class RecordEncoder implements FlatMapFunction<RowData, Tuple3<Integer, byte[], byte[]>> {
  private static final long serialVersionUID = 1L;
  private static final byte[] NOTHING = {};

  private final SinkSettings settings;
  private transient @Nullable Encoding encoding;

  RecordEncoder(SinkSettings settings) {
    this.settings = settings;
  }

  /** The type of changes. */
  static TypeInformation<Tuple3<Integer, byte[], byte[]>> type() {
    PrimitiveArrayTypeInfo<byte[]> bytes = PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO;
    return Types.TUPLE(Types.INT, bytes, bytes);
  }

  @Override
  public void flatMap(RowData row, Collector<Tuple3<Integer, byte[], byte[]>> out) {
    if (row.getRowKind() == RowKind.UPDATE_BEFORE) {
      return;
    }
    Encoding encoder = encoding;
    if (encoder == null) {
      encoder = new Encoding(settings);
      encoding = encoder;
    }
    out.collect(encoder.change(row));
  }

  /** The buffers of a subtask. */
  private static final class Encoding {
    private final SinkSettings settings;
    private final KeyWriter keys;
    private final RowWriter values;
    private final RowBuffer value = new RowBuffer();

    Encoding(SinkSettings settings) {
      this.settings = settings;
      this.keys = settings.keyWriter();
      this.values = settings.schema() == null ? raw(settings) : CellWriter.row(settings.columns());
    }

    private static RowWriter raw(SinkSettings settings) {
      int column = 0;
      while (settings.keys().contains(settings.columns().getFieldNames().get(column))) {
        column++;
      }
      int place = column;
      boolean text = settings.columns().getTypeAt(column).is(LogicalTypeRoot.VARCHAR);
      return (row, out) -> {
        if (row.isNullAt(place)) {
          throw new BadRowException(
              "column " + settings.columns().getFieldNames().get(place) + ", the value, is null");
        }
        out.put(text ? row.getString(place).toBytes() : row.getBinary(place));
      };
    }

    Tuple3<Integer, byte[], byte[]> change(RowData row) {
      byte[] key;
      try {
        key = keys.writeUnique(row);
      } catch (BadRowException e) {
        throw refused("of its key, " + e.getMessage());
      }
      if (key == null) {
        throw refused("a column of the key (" + String.join(", ", settings.keys()) + ") is null");
      }
      if (key.length == 0 || key.length > RecordBatch.MAX_KEY_LENGTH) {
        throw refused(
            "a key has %s bytes, not 1 to %s".formatted(key.length, RecordBatch.MAX_KEY_LENGTH));
      }
      int shard = ShardedBuild.shardOf(key, 0, key.length, settings.shards());
      if (row.getRowKind() == RowKind.DELETE) {
        return Tuple3.of(~shard, key, NOTHING);
      }
      value.reset();
      try {
        values.write(row, value);
      } catch (BadRowException e) {
        throw refused("the row of key " + DuplicateKeyException.show(key) + ": " + e.getMessage());
      }
      if (value.length() > RecordBatch.MAX_VALUE_LENGTH) {
        throw refused(
            "the row of key %s has %s bytes, more than %s"
                .formatted(
                    DuplicateKeyException.show(key), value.length(), RecordBatch.MAX_VALUE_LENGTH));
      }
      return Tuple3.of(shard, key, value.copy());
    }

    /** A failure that another attempt would repeat. */
    private SuppressRestartsException refused(String why) {
      return new SuppressRestartsException(
          new IllegalArgumentException(settings.path() + " cannot store a row: " + why));
    }
  }
}
