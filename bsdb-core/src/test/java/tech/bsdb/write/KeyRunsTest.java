package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** Runs of keys in a file, merged, against a sort of a list. */
class KeyRunsTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KeyRunsTest");

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(Leaks.tree(directory)).isEmpty();
    Leaks.assertNone(directory);
  }

  private void check(List<List<byte[]>> contents, long memoryBytes) throws IOException {
    List<byte[]> expected = new ArrayList<>();
    List<byte[]> merged = new ArrayList<>();
    try (KeyRuns runs = new KeyRuns(directory)) {
      List<KeyRuns.Run> written = new ArrayList<>();
      for (List<byte[]> keys : contents) {
        KeyRun run = new KeyRun(keys.size(), 0);
        for (byte[] key : keys) {
          run.add(key);
          expected.add(key);
        }
        run.sort();
        written.add(runs.write(run));
      }
      runs.merge(
          written,
          memoryBytes,
          (bytes, from, to, shared) -> merged.add(Arrays.copyOfRange(bytes, from, to)));
    }
    expected.sort(Arrays::compareUnsigned);
    assertThat(merged).hasSameSizeAs(expected);
    for (int i = 0; i < merged.size(); i++) {
      Truth.same(merged.get(i), expected.get(i), "key " + i);
    }
  }

  @Test
  void noRuns() throws Exception {
    check(List.of(), 0);
    check(List.of(List.of()), 0);
    check(List.of(List.of(), List.of(), List.of()), 1 << 20);
  }

  @Test
  void manySmallRuns() throws Exception {
    for (int count : new int[] {1, 2, 3, 4, 7, 100, 300}) {
      RandomKeys source = new RandomKeys(random, 40);
      List<List<byte[]>> contents = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        List<byte[]> keys = new ArrayList<>();
        for (int j = random.nextInt(50); j > 0; j--) {
          keys.add(source.next());
        }
        contents.add(keys);
      }
      check(contents, 0);
    }
  }

  /** Buffers of the least size: keys lie across their ends, and the longest are longer. */
  @Test
  void runsThatAreLargerThanTheirBuffers() throws Exception {
    for (int round = 0; round < 6; round++) {
      List<List<byte[]>> contents = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        List<byte[]> keys = new ArrayList<>();
        for (int size = 0; size < 1_000_000; ) {
          int length =
              switch (random.nextInt(40)) {
                case 0 -> RandomKeys.LONGEST - random.nextInt(3);
                case 1 -> 65_532 + random.nextInt(4); // with its head, about a whole buffer
                case 2 -> random.nextInt(RandomKeys.LONGEST);
                default -> random.nextInt(round == 0 ? 10 : 3000);
              };
          keys.add(Truth.bytes(random, length));
          size += length + 2;
        }
        contents.add(keys);
      }
      check(contents, round % 2 == 0 ? 0 : 3L << 19);
    }
  }

  @Test
  void equalKeysAllCome() throws Exception {
    byte[] key = Truth.bytes(random, 9);
    List<List<byte[]>> contents = new ArrayList<>();
    for (int i = 0; i < 37; i++) {
      contents.add(java.util.Collections.nCopies(i % 5, key));
    }
    check(contents, 0);
  }

  @Test
  void runsCutShortAreReported() throws Exception {
    try (KeyRuns runs = new KeyRuns(directory)) {
      KeyRun run = new KeyRun(1, 0);
      run.add(Truth.bytes(random, 100));
      run.sort();
      KeyRuns.Run written = runs.write(run);
      try (FileChannel channel =
          FileChannel.open(directory.resolve("keys.part"), StandardOpenOption.WRITE)) {
        channel.truncate(written.length() - 1);
      }
      assertThatThrownBy(() -> runs.merge(List.of(written), 0, (bytes, from, to, shared) -> {}))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining("keys.part");
    }
  }
}
