package tech.bsdb.bench.compare;

import com.linkedin.paldb.api.PalDB;
import com.linkedin.paldb.api.StoreReader;
import com.linkedin.paldb.api.StoreWriter;
import java.io.File;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** PalDB, with byte arrays as keys and values and its default configuration. */
record PalDbStore() implements ComparedStore {
  private static final byte[] ABSENT = new byte[0];

  private static File file(Path directory) {
    return directory.resolve("store.paldb").toFile();
  }

  @Override
  public void build(Records records, Path directory) {
    StoreWriter writer = PalDB.createWriter(file(directory));
    for (Records.KeyValue record : records) {
      // As objects: put(byte[], byte[]) expects serialized keys, which a reader cannot request.
      writer.put((Object) record.key(), (Object) record.value());
    }
    writer.close();
  }

  @Override
  public Reader open(Path directory, String reading) {
    return new PalDbReader(file(directory), PalDB.createReader(file(directory)));
  }

  private record PalDbReader(File file, StoreReader reader) implements Reader {
    @Override
    public byte @Nullable [] get(byte[] key) {
      byte[] value = reader.getByteArray(key, ABSENT);
      return value == ABSENT ? null : value;
    }

    @Override
    public Reader forAnotherThread() {
      return new PalDbReader(file, PalDB.createReader(file));
    }

    @Override
    public void close() {
      reader.close();
    }
  }
}
