package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;

/** Keys sorted in memory, against a sort of a list. */
class KeyRunTest {
  private final SplittableRandom random = Seeds.random("KeyRunTest");

  /** Sorts keys in a run and in a list. */
  private static void check(List<byte[]> keys) {
    KeyRun run = new KeyRun(0, 0);
    fill(run, keys);
    run.sort();
    same(run, keys);
  }

  private static void fill(KeyRun run, List<byte[]> keys) {
    long bytes = 0;
    for (byte[] key : keys) {
      run.add(key, 0, key.length);
      bytes += key.length;
    }
    assertThat(run.count()).isEqualTo(keys.size());
    assertThat(run.end()).isEqualTo((int) bytes + 2 * keys.size());
    assertThat(run.memory()).isEqualTo(bytes + (2L + KeyRun.OVERHEAD) * keys.size());
  }

  private static void same(KeyRun run, List<byte[]> keys) {
    record Numbered(byte[] key, int number) {}
    List<Numbered> expected = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      expected.add(new Numbered(keys.get(i), i));
    }
    expected.sort((one, other) -> Arrays.compareUnsigned(one.key, other.key)); // stable
    char[] shared = run.sharedWithLast(new char[0]);
    for (int i = 0; i < keys.size(); i++) {
      byte[] found = Arrays.copyOfRange(run.bytes(), run.start(i), run.end(i));
      Truth.same(found, expected.get(i).key, "key " + i);
      assertThat(run.number(i)).as("number %s", i).isEqualTo(expected.get(i).number);
      if (i > 0) {
        byte[] last = expected.get(i - 1).key;
        int mismatch = Arrays.mismatch(last, found);
        assertThat((int) shared[i])
            .as("bytes that keys %s and %s have in common", i - 1, i)
            .isEqualTo(mismatch < 0 ? last.length : mismatch);
      }
    }
  }

  @Test
  void anyKeys() {
    for (int round = 0; round < 3000; round++) {
      RandomKeys source = new RandomKeys(random, random.nextBoolean() ? 20 : 4000);
      List<byte[]> keys = new ArrayList<>();
      for (int i = random.nextInt(random.nextInt(20) == 0 ? 2000 : 60); i > 0; i--) {
        keys.add(source.next());
      }
      check(keys);
    }
  }

  @Test
  void keysWithALongCommonStart() {
    byte[] start = Truth.bytes(random, 5000);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      byte[] key = Arrays.copyOf(start, start.length + random.nextInt(20));
      if (random.nextBoolean()) {
        for (int j = start.length; j < key.length; j++) {
          key[j] = (byte) random.nextInt(2);
        }
      }
      keys.add(key);
    }
    check(keys);
  }

  @Test
  void equalKeysStayInOrder() {
    for (int count : new int[] {0, 1, 2, 12, 13, 100, 5000}) {
      for (int length : new int[] {0, 1, 7, 8, 9, 16, 100}) {
        byte[] key = Truth.bytes(random, length);
        check(new ArrayList<>(java.util.Collections.nCopies(count, key)));
      }
    }
  }

  @Test
  void keysThatDifferOnlyInZerosAtTheEnd() {
    for (int length : new int[] {0, 1, 7, 8, 9, 15, 16}) {
      byte[] start = Truth.bytes(random, length);
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        keys.add(Arrays.copyOf(start, length + random.nextInt(30)));
        keys.add(Arrays.copyOf(new byte[] {1}, 1 + random.nextInt(30)));
      }
      check(keys);
    }
  }

  @Test
  void manyWithTheSameEightBytes() {
    byte[][] words = new byte[3][];
    for (int i = 0; i < words.length; i++) {
      words[i] = Truth.bytes(random, 8);
    }
    for (int parts = 1; parts < 6; parts++) {
      List<byte[]> keys = new ArrayList<>();
      for (int i = 0; i < 2000; i++) {
        byte[] key = new byte[8 * parts];
        for (int part = 0; part < parts; part++) {
          System.arraycopy(words[random.nextInt(words.length)], 0, key, 8 * part, 8);
        }
        keys.add(key);
      }
      check(keys);
    }
  }

  /**
   * Each key is like the one before in all but its last eight bytes. To sort them takes no more of
   * the stack than to sort others.
   */
  @Test
  void keysThatPartOneAfterTheOther() throws Exception {
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < 2500; i++) {
      byte[] key = new byte[8 * i + 8];
      Arrays.fill(key, 8 * i, key.length, (byte) 1);
      keys.add(key);
    }
    java.util.Collections.shuffle(keys, new java.util.Random(random.nextLong()));
    KeyRun run = new KeyRun(0, 0);
    fill(run, keys);
    FutureTask<?> sort = new FutureTask<>(run::sort, null);
    Thread thread = new Thread(null, sort, "sort", 256 << 10);
    thread.start();
    thread.join();
    sort.get();
    same(run, keys);
  }

  @Test
  void aRunIsUsedAgain() {
    KeyRun run = new KeyRun(3, 10);
    for (int round = 0; round < 5; round++) {
      NavigableSet<byte[]> sorted = RandomKeys.set(random, 100, 300);
      List<byte[]> keys = new ArrayList<>(sorted.descendingSet());
      fill(run, keys);
      run.sort();
      same(run, keys);
      run.clear(0, 0);
      assertThat(run.count()).isZero();
      assertThat(run.memory()).isZero();
    }
  }
}
