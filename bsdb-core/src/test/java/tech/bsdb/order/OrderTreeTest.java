package tech.bsdb.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.PagesFile;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.AddressBits;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;

/** Trees of keys, written and read by cursors, against a sorted list. */
class OrderTreeTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("OrderTreeTest");
  private int made;

  /** A tree, and what it must hold. */
  private record Tree(PagesFile file, Facts.Order facts, List<byte[]> keys, List<Long> values) {
    OrderIndex open() throws Exception {
      CheckedPages pages = file.open(new BufferedEngine(), true);
      try {
        return new OrderIndex(pages, file.check(), facts, keys.size());
      } catch (CorruptDatabaseException e) {
        pages.close();
        throw e;
      }
    }
  }

  private Tree write(NavigableSet<byte[]> set) throws Exception {
    AddressBits bits =
        random.nextInt(4) == 0
            ? AddressBits.NONE
            : new AddressBits(random.nextInt(8), random.nextInt(40), random.nextInt(16));
    PagesFile file =
        new PagesFile(directory.resolve("order-" + made++ + ".bsdb"), OrderWriter.identity());
    OrderWriter writer = new OrderWriter(file.pages(), bits.all());
    List<byte[]> keys = new ArrayList<>(set);
    List<Long> values = new ArrayList<>();
    for (byte[] key : keys) {
      long value = bits.all() == 0 ? 0 : random.nextLong() >>> 64 - bits.all();
      values.add(value);
      byte[] padded = Arrays.copyOf(Truth.utf8("--"), key.length + 5);
      System.arraycopy(key, 0, padded, 2, key.length);
      writer.add(padded, 2, 2 + key.length, value);
    }
    assertThat(writer.records()).isEqualTo(keys.size());
    Facts.Order facts = new Facts.Order(writer.finish(), bits);
    return new Tree(file.close(), facts, keys, values);
  }

  private void check(NavigableSet<byte[]> set, int leastLevels) throws Exception {
    Tree tree = write(set);
    try (OrderIndex index = tree.open()) {
      assertThat(index.levels()).isGreaterThanOrEqualTo(leastLevels);
      walk(tree, index);
      seek(tree, set, index);
      wander(tree, index);
    }
  }

  private static void at(Tree tree, OrderCursor cursor, int number) throws Exception {
    boolean there = number >= 0 && number < tree.keys.size();
    assertThat(cursor.isAtKey()).isEqualTo(there);
    if (there) {
      Truth.same(cursor.key(), tree.keys.get(number), "key " + number);
      assertThat(cursor.address()).isEqualTo(tree.values.get(number));
    }
  }

  private static void walk(Tree tree, OrderIndex index) throws Exception {
    OrderCursor cursor = new OrderCursor(index);
    assertThat(cursor.isAtKey()).isFalse();
    assertThat(cursor.seekFirst()).isEqualTo(!tree.keys.isEmpty());
    for (int i = 0; i < tree.keys.size(); i++) {
      at(tree, cursor, i);
      assertThat(cursor.next()).isEqualTo(i + 1 < tree.keys.size());
    }
    assertThat(cursor.next()).isFalse();
    assertThat(cursor.isAtKey()).isFalse();
    assertThat(cursor.previous()).isEqualTo(!tree.keys.isEmpty());
    for (int i = tree.keys.size() - 1; i >= 0; i--) {
      at(tree, cursor, i);
      assertThat(cursor.previous()).isEqualTo(i > 0);
    }
    assertThat(cursor.previous()).isFalse();
    assertThat(cursor.next()).isEqualTo(!tree.keys.isEmpty());
    at(tree, cursor, 0);
    for (long rank : new long[] {-1, tree.keys.size(), tree.keys.size() + 1L, Long.MAX_VALUE}) {
      assertThat(cursor.seekRank(rank)).as("rank %s", rank).isFalse();
    }
    assertThat(cursor.seekLast()).isEqualTo(!tree.keys.isEmpty());
    at(tree, cursor, tree.keys.size() - 1);
  }

  private void seek(Tree tree, NavigableSet<byte[]> set, OrderIndex index) throws Exception {
    RandomKeys others = new RandomKeys(random, RandomKeys.LONGEST + 10);
    OrderCursor cursor = new OrderCursor(index);
    for (int i = 0; i < 400; i++) {
      byte[] key = others.next();
      if (i % 3 > 0 && !tree.keys.isEmpty()) {
        byte[] present = tree.keys.get(random.nextInt(tree.keys.size()));
        key = Arrays.copyOf(present, Math.max(0, present.length + (i % 3 == 1 ? 0 : 1 - i % 2)));
        if (i % 5 == 0 && key.length > 0) {
          key[random.nextInt(key.length)]++;
        }
      }
      int less = set.headSet(key).size();
      boolean there = set.contains(key);
      assertThat(cursor.rank(key)).isEqualTo(less);
      assertThat(cursor.seekCeiling(key)).isEqualTo(less < tree.keys.size());
      at(tree, cursor, less);
      assertThat(cursor.seekFloor(key)).isEqualTo(there || less > 0);
      at(tree, cursor, there ? less : less - 1);
      assertThat(cursor.seekLower(key)).isEqualTo(less > 0);
      at(tree, cursor, less - 1);
    }
  }

  /** Steps to and fro, over both ends. */
  private void wander(Tree tree, OrderIndex index) throws Exception {
    OrderCursor cursor = new OrderCursor(index);
    int size = tree.keys.size();
    cursor.seekFirst();
    int place = 0;
    for (int i = 0; i < 300; i++) {
      boolean on = random.nextBoolean();
      for (int steps = random.nextInt(30); steps > 0; steps--) {
        place = on ? Math.min(size, place + 1) : Math.max(-1, place - 1);
        assertThat(on ? cursor.next() : cursor.previous()).isEqualTo(place >= 0 && place < size);
        at(tree, cursor, size == 0 ? -1 : place);
      }
      if (i % 50 == 49 && size > 0) {
        place = random.nextInt(size);
        cursor.seekFloor(tree.keys.get(place));
      }
    }
  }

  @Test
  void aTreeWithoutKeys() throws Exception {
    check(new TreeSet<>(Arrays::compareUnsigned), 0);
  }

  @Test
  void smallTrees() throws Exception {
    for (int round = 0; round < 60; round++) {
      check(RandomKeys.set(random, 1 + random.nextInt(3 * round + 1), 200), 1);
    }
  }

  @Test
  void treesOfLongKeys() throws Exception {
    for (int round = 0; round < 12; round++) {
      check(RandomKeys.set(random, 1 + random.nextInt(60), RandomKeys.LONGEST), 1);
    }
  }

  @Test
  void wideTrees() throws Exception {
    check(RandomKeys.set(random, 30_000, 40), 2);
    NavigableSet<byte[]> numbers = new TreeSet<>(Arrays::compareUnsigned);
    for (int i = 0; i < 100_000; i++) {
      numbers.add(Truth.utf8("user:" + i));
    }
    check(numbers, 2);
  }

  @Test
  void highTrees() throws Exception {
    check(RandomKeys.groups(random, 4000, 20, 300, 300), 4);
    check(RandomKeys.groups(random, 300, 3, 2000, 1500), 5);
    check(RandomKeys.groups(random, 60, 3, 40_000, 25_535), 4);
  }

  /** Every inner node has two children at least, however long the separators. */
  @Test
  void separatorsOfTheGreatestLength() throws Exception {
    NavigableSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    for (int i = 0; i < 40; i++) {
      byte[] key = Truth.bytes(random, RandomKeys.LONGEST);
      keys.add(key);
      byte[] next = key.clone();
      next[next.length - 1] ^= 1;
      keys.add(next);
      byte[] shorter = Arrays.copyOf(key, key.length - 1);
      keys.add(shorter);
      byte[] other = key.clone();
      Arrays.fill(other, 30_000, other.length, (byte) i);
      keys.add(other);
    }
    check(keys, 4);
  }

  @Test
  void keysMustAscend() throws Exception {
    ByteArrayOutputStream written = new ByteArrayOutputStream();
    OrderWriter writer =
        new OrderWriter(new PageEncoder(written::write, OrderWriter.identity()), 0);
    writer.add(Truth.utf8("b"), 0, 1, 0);
    assertThat(writer.add(Truth.utf8("b"), 0, 1, 0)).as("the same key again").isFalse();
    for (String wrong : List.of("a", "")) {
      assertThatThrownBy(() -> writer.add(Truth.utf8(wrong), 0, wrong.length(), 0))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("ascending");
    }
    writer.add(Truth.utf8("b\0"), 0, 2, 0);
    assertThat(writer.finish()).containsExactly(1L);
  }

  @Test
  void theNumberOfPagesMustBeThatOfTheTree() throws Exception {
    Tree tree = write(RandomKeys.set(random, 100, 30));
    tree.open().close();
    List<Long> longer = new ArrayList<>(tree.facts.levels());
    longer.set(0, longer.get(0) + 1);
    Facts.Order other = new Facts.Order(longer, tree.facts.place());
    for (Tree wrong :
        List.of(
            new Tree(tree.file, other, tree.keys, tree.values),
            new Tree(tree.file, tree.facts, List.of(), tree.values))) {
      assertThatThrownBy(wrong::open).isInstanceOf(CorruptDatabaseException.class);
    }
  }

  /** Nodes with right checksums that contradict each other. */
  @Test
  void unsoundNodesAreReported() throws Exception {
    Tree tree = write(RandomKeys.groups(random, 200, 5, 300, 300));
    byte[] sound = tree.file.bytes();
    int last = sound.length / Page.SIZE - 2; // the root
    for (int[] change :
        new int[][] {
          {1, 0, 0},
          {1, 2, 1},
          {1, 8, 1},
          {2, 3, 200},
          {2, 2, 3},
          {2, 8, 77},
          {1, 18, 200}, // where the first block starts
          {last, 2, 9},
          {last, 3, 1},
          {last, 24, 255}, // the first child
          {last, 18, 200}
        }) {
      byte[] unsound = sound.clone();
      unsound[change[0] * Page.SIZE + change[1]] = (byte) change[2];
      if (change[1] == 0) {
        unsound[change[0] * Page.SIZE + 1] = 0;
      }
      tree.file.seal(unsound, change[0]);
      tree.file.replace(unsound);
      try (OrderIndex index = tree.open()) {
        OrderCursor cursor = new OrderCursor(index);
        assertThatThrownBy(
                () -> {
                  assertThat(cursor.seekCeiling(tree.keys.get(0))).isTrue();
                  for (boolean more = cursor.seekFirst(); more; ) {
                    assertThat(cursor.key()).isNotNull();
                    more = cursor.next();
                  }
                  for (boolean more = cursor.seekLast(); more; ) {
                    more = cursor.previous();
                  }
                })
            .as("byte %s of page %s", change[1], change[0])
            .isInstanceOf(CorruptDatabaseException.class)
            .hasMessageContaining("order-");
      }
    }
  }
}
