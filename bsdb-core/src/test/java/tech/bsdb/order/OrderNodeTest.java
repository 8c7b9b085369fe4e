package tech.bsdb.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.RandomKeys;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.format.Page;

/** Nodes of the tree of keys, encoded and read, against a list. */
class OrderNodeTest {
  /** Both lengths of an entry change their form at 15, at 15 + 2^7 and at 15 + 2^14. */
  private static final int[] LENGTHS = {
    0, 1, 14, 15, 16, 141, 142, 143, 144, 16_397, 16_398, 16_399, 16_400, 65_534, 65_535
  };

  private static final int MOST_PAGES = 256;

  private final SplittableRandom random = Seeds.random("OrderNodeTest");

  private static boolean add(NodeEncoder encoder, byte[] key, int from, int to, long value) {
    return encoder.add(key, from, to, encoder.sharedWithLast(key, from, to), value);
  }

  private static OrderNode node(byte[] bytes, int width) {
    return new OrderNode(Arrays.copyOf(bytes, bytes.length + OrderNode.SLACK), width);
  }

  private static NavigableSet<byte[]> sorted(List<byte[]> keys) {
    NavigableSet<byte[]> set = new TreeSet<>(Arrays::compareUnsigned);
    set.addAll(keys);
    return set;
  }

  private static long value(int number, int width) {
    long bits = 0x9e37_79b9_7f4a_7c15L * (number + 1);
    return width == 0 ? 0 : bits >>> 64 - width;
  }

  /** Encodes keys as one node, checks all of it, and looks for its keys and for others. */
  private static OrderNode check(NavigableSet<byte[]> set, int width, List<byte[]> others) {
    List<byte[]> keys = new ArrayList<>(set);
    NodeEncoder encoder = new NodeEncoder(3, width, Integer.MAX_VALUE);
    for (int i = 0; i < keys.size(); i++) {
      assertThat(add(encoder, keys.get(i), 0, keys.get(i).length, value(i, width))).isTrue();
    }
    assertThat(encoder.count()).isEqualTo(keys.size());
    int pages = encoder.pages();
    assertThat(pages).isLessThanOrEqualTo(MOST_PAGES);
    byte[] bytes = encoder.encode(7, 1L << 40);
    assertThat(bytes).hasSize(pages * Page.PAYLOAD);
    OrderNode node = node(bytes, width);
    check(node, keys, width);
    assertThat(node.level()).isEqualTo(3);
    assertThat(node.pages()).isEqualTo(pages);
    assertThat(node.pagesBefore()).isEqualTo(7);
    assertThat(node.before()).isEqualTo(1L << 40);
    NavigableSet<byte[]> asked = sorted(others);
    for (byte[] key : keys) {
      asked.addAll(neighbours(key));
    }
    for (byte[] key : asked) {
      search(node, keys, key);
    }
    return node;
  }

  private static void check(OrderNode node, List<byte[]> keys, int width) {
    assertThat(node.count()).isEqualTo(keys.size());
    assertThat(OrderNode.blocks(keys.size())).isEqualTo((keys.size() + 63) / 64);
    byte[] key = new byte[RandomKeys.LONGEST + OrderNode.SLACK];
    int length = 0;
    int end = 0;
    for (int i = 0; i < keys.size(); i++) {
      long entry = node.entry(i % 64 == 0 ? node.start(i / 64) : end);
      if (i % 64 == 0) {
        length = node.copyShared(key, entry);
      }
      node.change(key, length, entry);
      length = OrderNode.keyLength(entry);
      end = OrderNode.end(entry);
      Truth.same(Arrays.copyOf(key, length), keys.get(i), "key " + i);
      assertThat(node.value(i)).isEqualTo(value(i, width));
      assertThat(search(node, keys.get(i))).isEqualTo(i);
    }
  }

  private static void search(OrderNode node, List<byte[]> keys, byte[] key) {
    int less = 0;
    int more = keys.size();
    while (less < more) { // none of the library's own code
      int middle = (less + more) / 2;
      if (Arrays.compareUnsigned(keys.get(middle), key) < 0) {
        less = middle + 1;
      } else {
        more = middle;
      }
    }
    boolean there = less < keys.size() && Arrays.equals(keys.get(less), key);
    assertThat(search(node, key)).isEqualTo(there ? less : ~less);
  }

  /** Keys that differ from one as little as can be. */
  private static List<byte[]> neighbours(byte[] key) {
    List<byte[]> all = new ArrayList<>();
    all.add(Arrays.copyOf(key, key.length + 1));
    byte[] longer = Arrays.copyOf(key, key.length + 1);
    longer[key.length] = (byte) 0xFF;
    all.add(longer);
    for (int at : new int[] {0, key.length / 2, key.length - 1}) {
      if (at >= 0 && at < key.length) {
        all.add(Arrays.copyOf(key, at));
        for (int difference : new int[] {1, -1, 0x80}) {
          byte[] other = key.clone();
          other[at] += (byte) difference;
          all.add(other);
        }
      }
    }
    return all;
  }

  @Test
  void theExampleOfTheFormat() {
    NodeEncoder encoder = new NodeEncoder(0, 0, 1);
    for (String key : List.of("ab", "abc", "b")) {
      assertThat(add(encoder, Truth.utf8(key), 0, key.length(), 0)).isTrue();
    }
    byte[] expected = new byte[Page.PAYLOAD];
    expected[0] = 3;
    expected[16] = 0x14;
    byte[] entries = {0x02, 0x61, 0x62, 0x21, 0x63, 0x01, 0x62};
    System.arraycopy(entries, 0, expected, 20, entries.length);
    assertThat(encoder.encode(0, 0)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 300})
  void numbersOfKeysAtTheEndsOfBlocks(int count) {
    for (int round = 0; round < 30; round++) {
      NavigableSet<byte[]> keys = RandomKeys.set(random, count, 60);
      RandomKeys others = new RandomKeys(random, 60);
      List<byte[]> asked = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        asked.add(others.next());
      }
      check(keys, random.nextInt(64), asked);
    }
  }

  /**
   * Every length of what is shared, with every length of the rest, within a block and at its start.
   */
  @Test
  void lengthsOfSharedPartsAndRests() {
    for (int shared : LENGTHS) {
      for (int rest : LENGTHS) {
        if (shared + rest <= RandomKeys.LONGEST && rest > 0) {
          check(sharing(shared, rest, 2), random.nextInt(64), List.of());
        }
      }
    }
    for (int shared : new int[] {0, 14, 15, 16, 142, 143}) {
      for (int rest : new int[] {1, 14, 15, 16, 142, 143}) {
        check(sharing(shared, rest, 40), random.nextInt(64), List.of());
      }
    }
  }

  /** Keys, distinct by their first byte behind what they share. */
  private NavigableSet<byte[]> sharing(int shared, int rest, int count) {
    byte[] start = Truth.bytes(random, shared);
    List<byte[]> keys = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] key = Arrays.copyOf(start, shared + rest);
      System.arraycopy(Truth.bytes(random, rest), 0, key, shared, rest);
      key[shared] = (byte) (6 * i);
      keys.add(key);
    }
    return sorted(keys);
  }

  @Test
  void keysThatAreTheStartsOfOthers() {
    for (int step : new int[] {1, 3, 16, 200}) {
      for (int fill : new int[] {0, 1, 0xFF}) {
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          byte[] key = new byte[i * step];
          Arrays.fill(key, (byte) fill);
          keys.add(key);
        }
        check(sorted(keys), 3, List.of());
      }
    }
  }

  @Test
  void nodesOfManyPages() {
    for (int round = 0; round < 20; round++) {
      NavigableSet<byte[]> keys =
          RandomKeys.set(random, 2 + random.nextInt(40), RandomKeys.LONGEST);
      keys.add(Truth.bytes(random, RandomKeys.LONGEST));
      long bytes = keys.stream().mapToLong(key -> key.length + 20).sum();
      if (bytes < (long) MOST_PAGES * Page.PAYLOAD) {
        assertThat(check(keys, 5, List.of()).pages()).isGreaterThan(16);
      }
    }
  }

  /** A node takes all that fits into its pages, and its first entries whatever they need. */
  @Test
  void aNodeIsFull() {
    for (int round = 0; round < 200; round++) {
      int least = 1 + random.nextInt(2);
      int width = random.nextInt(64);
      List<byte[]> keys =
          new ArrayList<>(
              RandomKeys.set(random, 600, random.nextInt(4) == 0 ? RandomKeys.LONGEST : 300));
      NodeEncoder encoder = new NodeEncoder(0, width, least);
      int from = 0;
      for (int i = 0; i < keys.size(); i++) {
        byte[] key = keys.get(i);
        boolean fits = add(encoder, key, 0, key.length, value(i - from, width));
        if (fits) {
          int bytes = size(keys.subList(from, i + 1), width);
          if (i - from < least) {
            assertThat(encoder.pages()).isEqualTo((bytes + Page.PAYLOAD - 1) / Page.PAYLOAD);
          } else {
            assertThat(bytes).isLessThanOrEqualTo(encoder.pages() * Page.PAYLOAD);
          }
        } else {
          assertThat(i - from).isGreaterThanOrEqualTo(least);
          int pages = encoder.pages();
          assertThat(size(keys.subList(from, i + 1), width)).isGreaterThan(pages * Page.PAYLOAD);
          check(node(encoder.encode(1, 0), width), keys.subList(from, i), width);
          assertThat(encoder.count()).isZero();
          from = i;
          assertThat(add(encoder, key, 0, key.length, value(0, width))).isTrue();
        }
      }
    }
  }

  /** Bytes of a node by the rules of the format. */
  private static int size(List<byte[]> keys, int width) {
    int size = 16 + 4 * ((keys.size() + 63) / 64) + (width * keys.size() + 7) / 8;
    for (int i = 0; i < keys.size(); i++) {
      byte[] other = i == 0 ? new byte[0] : keys.get(i % 64 == 0 ? 0 : i - 1);
      int mismatch = Arrays.mismatch(other, keys.get(i));
      int shared = mismatch < 0 ? other.length : mismatch;
      int rest = keys.get(i).length - shared;
      size += 1 + more(shared) + more(rest) + rest;
    }
    return size;
  }

  private static int more(int length) {
    if (length < 15) {
      return 0;
    }
    int bytes = 1;
    for (int left = length - 15; left >= 128; left >>>= 7) {
      bytes++;
    }
    return bytes;
  }

  @Test
  void partsOfArraysAreKeys() {
    byte[] bytes = Truth.utf8("..key..");
    NodeEncoder encoder = new NodeEncoder(0, 9, 1);
    add(encoder, bytes, 2, 5, 200);
    assertThat(encoder.sharedWithLast(Truth.utf8("-kez"), 1, 4)).isEqualTo(2);
    assertThat(encoder.compareWithLast(Truth.utf8("-kez"), 1, 4, 2)).isPositive();
    assertThat(encoder.compareWithLast(bytes, 2, 5, 3)).isZero();
    assertThat(encoder.compareWithLast(bytes, 2, 4, 2)).isNegative();
    add(encoder, Truth.utf8("-key\0-"), 1, 5, 255);
    OrderNode node = node(encoder.encode(0, 0), 9);
    assertThat(search(node, Truth.utf8("key"))).isZero();
    assertThat(search(node, Truth.utf8("key\0"))).isEqualTo(1);
    assertThat(node.value(0)).isEqualTo(200);
    assertThat(node.value(1)).isEqualTo(255);
    assertThat(node.pagesBefore()).isEqualTo(1); // not used in the first node
  }

  @Test
  void aKeyCannotShareMoreThanThereIs() {
    OrderNode node = new OrderNode(new byte[] {0x51, 'a', 0, 0, 0, 0, 0, 0, 0, 0}, 0);
    long entry = node.entry(0);
    byte[] key = new byte[20];
    node.change(key, 5, entry);
    assertThatThrownBy(() -> node.change(key, 4, entry))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** The number of the entry with a key, or the complement of the number of lesser entries. */
  private static int search(OrderNode node, byte[] key) {
    long ceiling = node.ceiling(key);
    int number = OrderNode.number(ceiling);
    return OrderNode.isEqual(ceiling) ? number : ~number;
  }
}
