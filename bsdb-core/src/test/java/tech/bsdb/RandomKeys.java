package tech.bsdb;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import tech.bsdb.hash.Signature;

/**
 * Random keys whose order is easy to get wrong: with long common starts, of few different bytes
 * among which are 0x00 and 0xFF, and keys that others start with.
 */
public final class RandomKeys {
  /** The longest key. */
  public static final int LONGEST = 65_535;

  private static final byte[][] ALPHABETS = {
    {0, (byte) 0xFF}, {0, 1, (byte) 0x7F, (byte) 0x80, (byte) 0xFE, (byte) 0xFF}, {'a', 'b', 'c'}
  };

  /** Lengths at which the form of an entry or of a record changes. */
  private static final int[] EDGES = {
    0, 1, 7, 8, 9, 14, 15, 16, 31, 32, 142, 143, 144, 254, 255, 256, 4091, 4092, 4093, 16_398,
    16_399, 16_400, 65_534, 65_535
  };

  private final SplittableRandom random;
  private final int longest;
  private final byte[] alphabet;
  private final List<byte[]> made = new ArrayList<>();

  /** The keys by their signatures, of which a database can have only one with each. */
  private final Map<List<Long>, byte[]> signatures = new HashMap<>();

  private final Signature signature = new Signature();

  /**
   * Creates a source of keys.
   *
   * @param longest bytes of a key, at most
   */
  public RandomKeys(SplittableRandom random, int longest) {
    this.random = random;
    this.longest = longest;
    int number = random.nextInt(ALPHABETS.length + 1);
    this.alphabet = number < ALPHABETS.length ? ALPHABETS[number] : new byte[0];
  }

  /** Returns so many distinct keys in ascending order. */
  public static NavigableSet<byte[]> set(SplittableRandom random, int count, int longest) {
    RandomKeys source = new RandomKeys(random, longest);
    NavigableSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    while (keys.size() < count) {
      keys.add(source.next());
    }
    return keys;
  }

  /**
   * Returns keys in groups, which differ only behind as many bytes: separators of leaves are that
   * long, so that a tree of them is high.
   */
  public static NavigableSet<byte[]> groups(
      SplittableRandom random, int count, int inGroup, int common, int own) {
    NavigableSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    while (keys.size() < count) {
      byte[] key = Truth.bytes(random, common + own);
      for (int i = 0; i < inGroup && keys.size() < count; i++) {
        byte[] next = key.clone();
        System.arraycopy(Truth.bytes(random, own), 0, next, common, own);
        keys.add(next);
      }
    }
    return keys;
  }

  /** Returns the next key, mostly similar to one before. */
  public byte[] next() {
    byte[] key = made.isEmpty() || random.nextInt(8) == 0 ? fresh() : like(any());
    while (collides(key)) {
      key = fresh();
    }
    if (made.size() < 500) {
      made.add(key);
    } else {
      made.set(random.nextInt(made.size()), key);
    }
    return key;
  }

  /**
   * Whether another key has the same signature by SpookyHash: keys of 32 bytes or more that end in
   * zeros can, because the length and the last bytes are added to the same word (FORMAT.md §5).
   */
  private boolean collides(byte[] key) {
    signature.compute(key, 0, key.length, 0);
    byte[] known = signatures.putIfAbsent(List.of(signature.high, signature.low), key);
    return known != null && !Arrays.equals(known, key);
  }

  private byte[] any() {
    return made.get(random.nextInt(made.size()));
  }

  private byte[] fresh() {
    int kind = random.nextInt(24);
    if (kind == 0) {
      return bytes(Math.min(longest, EDGES[random.nextInt(EDGES.length)]));
    }
    return bytes(random.nextInt(Math.min(longest, kind == 1 ? 3000 : 24) + 1));
  }

  private byte[] like(byte[] key) {
    return switch (random.nextInt(6)) {
      case 0 -> Arrays.copyOf(key, random.nextInt(key.length + 1)); // the start of it
      case 1 -> Arrays.copyOf(key, Math.min(longest, key.length + 1 + random.nextInt(3)));
      case 2 -> withAnotherByte(key);
      default -> withAnotherEnd(key);
    };
  }

  private byte[] withAnotherByte(byte[] key) {
    byte[] other = key.clone();
    if (other.length > 0) {
      other[random.nextInt(other.length)] = bytes(1)[0];
    }
    return other;
  }

  private byte[] withAnotherEnd(byte[] key) {
    int common = random.nextInt(4) == 0 ? random.nextInt(key.length + 1) : key.length;
    byte[] end = bytes(Math.min(longest - common, random.nextInt(9)));
    byte[] joined = Arrays.copyOf(key, common + end.length);
    System.arraycopy(end, 0, joined, common, end.length);
    return joined;
  }

  private byte[] bytes(int length) {
    byte[] bytes = Truth.bytes(random, length);
    if (alphabet.length > 0) {
      for (int i = 0; i < length; i++) {
        bytes[i] = alphabet[(bytes[i] & 0xFF) % alphabet.length];
      }
    }
    return bytes;
  }
}
