package tech.bsdb.write;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.data.RecordWriter;
import tech.bsdb.hash.SignatureFunction;

/** What a run keeps of the records that it has written. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecordRunTest {
  private final SignatureFunction function = SignatureFunction.of(BuildOptions.defaults());

  @TempDir Path directory;

  /** Keeps no record. */
  private static final class Watching implements RecordWriter {
    final List<WeakReference<byte[]>> values = new ArrayList<>();

    @Override
    public void add(FramedRecord record) {
      values.add(new WeakReference<>(record.value));
    }

    @Override
    public void finish() {}

    @Override
    public void close() {}
  }

  @Test
  void theLastLongValueIsNotKept() throws Exception {
    try (RecordSpill spill = new RecordSpill(directory);
        Watching to = new Watching()) {
      for (String key : List.of("a", "b")) {
        spill.add(0, Framed.of(key.getBytes(UTF_8), new byte[2 << 20], function));
      }
      spill.finish();
      RecordRun run = new RecordRun(spill, to, true, function, () -> {});
      run.sort(0);
      run.write();
      for (WeakReference<byte[]> value : to.values) {
        while (value.get() != null) { // until the timeout
          System.gc();
        }
      }
      assertThat(run.count()).isEqualTo(to.values.size()).isEqualTo(2);
    }
  }
}
