package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** What is spilled comes back by partitions, in order, however often a chunk was reused. */
class SignatureSpillTest {
  private static final int VALUE = 20;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureSpillTest");

  private static byte[] entry(long high, long low, long address, byte[] value) {
    ByteBuffer entry = ByteBuffer.allocate(2 * Long.BYTES + Long.BYTES + 1 + VALUE);
    entry.order(java.nio.ByteOrder.LITTLE_ENDIAN).putLong(high).putLong(low).putLong(address);
    return entry.put((byte) value.length).put(value).array();
  }

  @Test
  void entriesComeBackWithNothingOfThoseBeforeThem() throws Exception {
    int partitions = 3;
    List<List<byte[]>> expected = new ArrayList<>();
    for (int i = 0; i < partitions; i++) {
      expected.add(new ArrayList<>());
    }
    try (SignatureSpill spill =
        new SignatureSpill(directory.resolve("spill"), Long.BYTES + 1 + VALUE)) {
      for (int i = 0; i < 5000; i++) {
        int partition = random.nextInt(partitions);
        long high = SignatureSpill.firstHigh(partition) | random.nextLong() >>> 20;
        long low = random.nextLong();
        byte[] value = Truth.bytes(random, random.nextInt(VALUE + 1));
        assertThat(SignatureSpill.partition(high)).isEqualTo(partition);
        spill.add(high, low, i, value, 0, value.length);
        expected.get(partition).add(entry(high, low, i, value));
      }
      spill.seal();
      assertThat(spill.total()).isEqualTo(5000);
      for (int partition = 0; partition < partitions; partition++) {
        List<byte[]> found = new ArrayList<>();
        spill.read(
            partition,
            (chunk, from, to) -> {
              int length = spill.entryBytes();
              for (int at = from; at < to; at += length) {
                found.add(Arrays.copyOfRange(chunk, at, at + length));
              }
            });
        assertThat(spill.count(partition)).isEqualTo(found.size());
        assertThat(found).hasSameSizeAs(expected.get(partition));
        for (int i = 0; i < found.size(); i++) {
          Truth.same(found.get(i), expected.get(partition).get(i), "an entry");
        }
      }
    }
    assertThat(directory).isEmptyDirectory();
  }
}
