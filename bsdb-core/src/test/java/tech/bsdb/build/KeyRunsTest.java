package tech.bsdb.build;

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
  private static final KeyEntries ENTRIES = new KeyEntries(true);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("KeyRunsTest");

  /** A key, and where it was: what comes later has a larger number. */
  private record Numbered(byte[] key, long number) {}

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(Leaks.tree(directory)).isEmpty();
    Leaks.assertNone(directory);
  }

  private void check(List<List<byte[]>> contents, long memoryBytes) throws IOException {
    List<Numbered> expected = new ArrayList<>();
    List<Numbered> merged = new ArrayList<>();
    try (KeyRuns runs = new KeyRuns(directory, ENTRIES)) {
      List<KeyRuns.Run> written = new ArrayList<>();
      for (List<byte[]> keys : contents) {
        KeyRun run = new KeyRun(ENTRIES, keys.size(), 0);
        for (byte[] key : keys) {
          long number = (1L << 62) + expected.size();
          run.add(key, number);
          expected.add(new Numbered(key, number));
        }
        run.sort();
        written.add(runs.write(run));
      }
      runs.merge(
          written,
          memoryBytes,
          (bytes, from, to, address) ->
              merged.add(new Numbered(Arrays.copyOfRange(bytes, from, to), address)));
    }
    expected.sort((one, other) -> Arrays.compareUnsigned(one.key, other.key)); // stable
    assertThat(merged).hasSameSizeAs(expected);
    for (int i = 0; i < merged.size(); i++) {
      Truth.same(merged.get(i).key, expected.get(i).key, "key " + i);
      assertThat(merged.get(i).number).as("address %s", i).isEqualTo(expected.get(i).number);
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
                case 1 -> 65_526 + random.nextInt(4); // with its head, about a whole buffer
                case 2 -> random.nextInt(RandomKeys.LONGEST);
                default -> random.nextInt(round == 0 ? 10 : 3000);
              };
          keys.add(Truth.bytes(random, length));
          size += length + 10;
        }
        contents.add(keys);
      }
      check(contents, round % 2 == 0 ? 0 : 3L << 19);
    }
  }

  @Test
  void equalKeysComeInTheOrderOfTheirRuns() throws Exception {
    byte[] key = Truth.bytes(random, 9);
    List<List<byte[]>> contents = new ArrayList<>();
    for (int i = 0; i < 37; i++) {
      contents.add(java.util.Collections.nCopies(i % 5, key));
    }
    check(contents, 0);
  }

  @Test
  void runsCutShortAreReported() throws Exception {
    try (KeyRuns runs = new KeyRuns(directory, ENTRIES)) {
      KeyRun run = new KeyRun(ENTRIES, 1, 0);
      run.add(Truth.bytes(random, 100), 1);
      run.sort();
      KeyRuns.Run written = runs.write(run);
      try (FileChannel channel =
          FileChannel.open(directory.resolve("keys.part"), StandardOpenOption.WRITE)) {
        channel.truncate(written.length() - 1);
      }
      assertThatThrownBy(() -> runs.merge(List.of(written), 0, (bytes, from, to, address) -> {}))
          .isInstanceOf(EOFException.class)
          .hasMessageContaining("keys.part");
    }
  }
}
