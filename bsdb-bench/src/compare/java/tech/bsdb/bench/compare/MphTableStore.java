package tech.bsdb.bench.compare;

import com.google.common.collect.Iterators;
import com.indeed.mph.KeyValidator;
import com.indeed.mph.TableConfig;
import com.indeed.mph.TableReader;
import com.indeed.mph.TableWriter;
import com.indeed.mph.serializers.AbstractSmartSerializer;
import com.indeed.util.core.Pair;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Indeed's mph-table: a minimal perfect hash table of records with their keys, memory-mapped. */
record MphTableStore() implements ComparedStore {
  /** Writes the length in four bytes, then the bytes. */
  static final class Bytes extends AbstractSmartSerializer<byte[]> {
    private static final long serialVersionUID = 1;

    @Override
    public void write(byte[] bytes, DataOutput out) throws IOException {
      out.writeInt(bytes.length);
      out.write(bytes);
    }

    @Override
    public byte[] read(DataInput in) throws IOException {
      byte[] bytes = new byte[in.readInt()];
      in.readFully(bytes);
      return bytes;
    }

    @Override
    public byte[] parseFromString(String text) {
      throw new UnsupportedOperationException();
    }
  }

  /** Accepts a value only if its stored key equals the requested one. */
  static final class SameKey implements KeyValidator<byte[], byte[]> {
    private static final long serialVersionUID = 1;

    @Override
    public byte @Nullable [] validate(byte[] wanted, byte[] found, byte[] value) {
      return Arrays.equals(wanted, found) ? value : null;
    }
  }

  @Override
  public void build(Records records, Path directory) throws IOException {
    TableConfig<byte[], byte[]> config =
        new TableConfig<byte[], byte[]>()
            .withKeySerializer(new Bytes())
            .withValueSerializer(new Bytes())
            .withKeyValidator(new SameKey());
    Iterable<Pair<byte[], byte[]>> pairs =
        () ->
            Iterators.transform(
                records.iterator(), record -> Pair.of(record.key(), record.value()));
    TableWriter.writeWithTempStorage(directory.resolve("table").toFile(), config, pairs.iterator());
  }

  @Override
  public Reader open(Path directory, String reading) throws IOException {
    return new MphTableReader(TableReader.open(directory.resolve("table").toFile()));
  }

  private record MphTableReader(TableReader<byte[], byte[]> table) implements Reader {
    @Override
    public byte @Nullable [] get(byte[] key) throws IOException {
      return table.get(key);
    }

    @Override
    public Reader forAnotherThread() {
      return this;
    }

    @Override
    public void close() throws IOException {
      table.close();
    }
  }
}
