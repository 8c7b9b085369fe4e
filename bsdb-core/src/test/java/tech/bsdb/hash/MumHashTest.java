package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Seeds;

class MumHashTest {
  private static final double SIGMAS = 6.5;

  private final SplittableRandom random = Seeds.random("MumHashTest");
  private final Signature signature = new Signature();

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private List<Long> sign(MumHash hash, byte[] key) {
    hash.sign(key, 0, key.length, signature);
    return List.of(signature.high, signature.low);
  }

  /** The vectors that readers in other languages test too. */
  @Test
  void theVectorsAreThese() throws IOException {
    List<String> lines;
    try (InputStream vectors = MumHashTest.class.getResourceAsStream("/signature/mum.txt")) {
      byte[] text = Objects.requireNonNull(vectors).readAllBytes();
      lines = new String(text, StandardCharsets.UTF_8).lines().skip(1).toList();
    }
    assertThat(lines).hasSizeGreaterThan(200);
    for (String line : lines) {
      String[] parts = line.split(" ", -1);
      byte[] key = parts[1].equals("-") ? new byte[0] : HexFormat.of().parseHex(parts[1]);
      new MumHash(Long.parseLong(parts[0])).sign(key, 0, key.length, signature);
      assertThat(String.format("%016x %016x", signature.high, signature.low))
          .as(line)
          .isEqualTo(parts[2] + " " + parts[3]);
    }
  }

  /** The definition in FORMAT.md §5, with numbers of any size. */
  private static List<Long> plainly(byte[] key, long seed) {
    long[] secrets = new long[6];
    for (int i = 0; i < secrets.length; i++) {
      secrets[i] = MumHash.secret(seed, i + 1);
    }
    long[] state = {secrets[0], secrets[1]};
    int at = 0;
    for (; key.length - at > 16; at += 16) {
      mix(state, word(key, at, 8), word(key, at + 8, 8));
    }
    int length = key.length;
    if (length >= 8) {
      mix(state, word(key, Math.max(0, length - 16), 8), word(key, length - 8, 8));
    } else if (length >= 4) {
      mix(state, word(key, 0, 4), word(key, length - 4, 4));
    } else if (length > 0) {
      mix(state, word(key, 0, 1) + (word(key, length / 2, 1) << 8), word(key, length - 1, 1));
    } else {
      mix(state, 0, 0);
    }
    state[0] ^= length;
    return List.of(
        halves(state[0] ^ secrets[2], state[1] ^ secrets[3]),
        halves(state[0] ^ secrets[4], state[1] ^ secrets[5]));
  }

  private static void mix(long[] state, long first, long second) {
    long x = state[0] ^ first;
    long y = state[1] ^ second;
    BigInteger product = BigInteger.valueOf(x).multiply(BigInteger.valueOf(y));
    state[0] = product.longValue();
    state[1] = product.shiftRight(64).longValue() ^ x - y;
  }

  private static long halves(long x, long y) {
    BigInteger product = BigInteger.valueOf(x).multiply(BigInteger.valueOf(y));
    return product.longValue() ^ product.shiftRight(64).longValue();
  }

  private static long word(byte[] key, int at, int length) {
    long word = 0;
    for (int i = 0; i < length; i++) {
      word |= (key[at + i] & 0xFFL) << 8 * i;
    }
    return word;
  }

  @Test
  void itIsThePlainFunctionAtEveryLengthAndPlace() {
    for (int length = 0; length <= 200; length++) {
      for (int offset = 0; offset < 9; offset++) {
        long seed = random.nextLong();
        byte[] around = bytes(offset + length + random.nextInt(9));
        byte[] key = Arrays.copyOfRange(around, offset, offset + length);
        MumHash hash = new MumHash(seed);
        hash.sign(around, offset, length, signature);
        assertThat(List.of(signature.high, signature.low))
            .as("%s bytes, seed %s", length, seed)
            .isEqualTo(plainly(key, seed));
        if (length <= MumHash.SHORT) {
          long first = MumHash.first(around, offset, length);
          long second = MumHash.second(around, offset, length);
          assertThat(hash.high(first, second, length)).isEqualTo(signature.high);
          assertThat(hash.low(first, second, length)).isEqualTo(signature.low);
        }
      }
    }
    byte[] longest = bytes(65_535);
    assertThat(sign(new MumHash(5), longest)).isEqualTo(plainly(longest, 5));
  }

  @Test
  void keysOutsideTheArrayAreRefused() {
    MumHash hash = new MumHash(0);
    for (int length = 1; length <= 70; length++) {
      byte[] bytes = bytes(length);
      int all = length;
      for (int offset : new int[] {1, -1, length, Integer.MAX_VALUE}) {
        assertThatThrownBy(() -> hash.sign(bytes, offset, all, signature))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  /** Each bit of a key changes each bit of the signature half the time. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 24, 31, 32, 33, 40})
  void everyBitDependsOnEveryBit(int length) {
    int rounds = 1 << 10;
    int[] changed = new int[128];
    for (int bit = 0; bit < 8 * length; bit++) {
      Arrays.fill(changed, 0);
      for (int i = 0; i < rounds; i++) {
        MumHash hash = new MumHash(random.nextLong()); // short keys are few
        byte[] key = bytes(length);
        hash.sign(key, 0, length, signature);
        long high = signature.high;
        long low = signature.low;
        key[bit >> 3] ^= (byte) (1 << (bit & 7));
        hash.sign(key, 0, length, signature);
        count(changed, 0, high ^ signature.high);
        count(changed, 64, low ^ signature.low);
      }
      for (int each : changed) {
        assertThat(Math.abs(each - rounds / 2))
            .as("bit %s of %s bytes", bit, length)
            .isLessThan((int) (SIGMAS * Math.sqrt(rounds / 4.0)));
      }
    }
  }

  private static void count(int[] counts, int from, long bits) {
    for (int i = 0; i < Long.SIZE; i++) {
      counts[from + i] += (int) (bits >>> i & 1);
    }
  }

  /** The bits of a signature do not depend on each other, of one half or of both. */
  @Test
  void bitsDoNotDependOnEachOther() {
    int rounds = 1 << 15;
    MumHash hash = new MumHash(0);
    int[][] equal = new int[128][128];
    for (int i = 0; i < rounds; i++) {
      byte[] key = ("key" + i).getBytes(StandardCharsets.UTF_8);
      hash.sign(key, 0, key.length, signature);
      for (int bit = 0; bit < 128; bit++) {
        long word = bit < 64 ? signature.high : signature.low;
        long same = (word >>> bit & 1) - 1; // all ones if the bit is zero
        count(equal[bit], 0, signature.high ^ same);
        count(equal[bit], 64, signature.low ^ same);
      }
    }
    for (int one = 0; one < 128; one++) {
      for (int other = 0; other < one; other++) {
        assertThat(Math.abs(equal[one][other] - rounds / 2))
            .as("bits %s and %s", one, other)
            .isLessThan((int) (SIGMAS * Math.sqrt(rounds / 4.0)));
      }
    }
  }

  private static byte[] longs(long... words) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * words.length).order(ByteOrder.LITTLE_ENDIAN);
    for (long word : words) {
      bytes.putLong(word);
    }
    return bytes.array();
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Different keys, by their numbers. */
  private enum Family {
    DECIMAL(i -> text("%d".formatted(i))),
    PADDED(i -> text("user:%011d".formatted(i))),
    LONG_PREFIX(i -> text("https://example.com/items/%d/details".formatted(i))),
    HEXADECIMAL(i -> text("%032x%032x".formatted(i, 7L * i))),
    INTS(i -> ByteBuffer.allocate(4).putInt(i).array()),
    LONGS(i -> longs(i)),
    REVERSED(i -> longs(Long.reverseBytes(i))),
    SHIFTED(i -> longs((long) i << 32)),
    DOUBLES(i -> longs(Double.doubleToRawLongBits(i))),
    PAIRS(i -> longs(i & 0xFF, i >>> 8)),
    SWAPPED(i -> longs(i >>> 8, i & 0xFF)),
    MIRRORED(i -> longs(i, i)),
    OPPOSED(i -> longs(i, ~i)),
    TRIPLES(i -> longs(i & 63, i >>> 6 & 63, i >>> 12)),
    TWO_BITS(MumHashTest::twoBits),
    ZEROS(i -> Arrays.copyOf(longs(1L + (i >> 8)), 8 + (i & 255)));

    @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
    private final IntFunction<byte[]> keys;

    Family(IntFunction<byte[]> keys) {
      this.keys = keys;
    }
  }

  /** Keys of 180 bytes with two ones among their bits, all different up to 1,036,080. */
  private static byte[] twoBits(int number) {
    int higher = (int) ((Math.sqrt(8.0 * number + 1) + 1) / 2);
    higher += higher * (higher + 1L) / 2 <= number ? 1 : 0;
    higher -= higher * (higher - 1L) / 2 > number ? 1 : 0;
    int lower = (int) (number - higher * (higher - 1L) / 2);
    byte[] key = new byte[180];
    key[higher >> 3] |= (byte) (1 << (higher & 7));
    key[lower >> 3] |= (byte) (1 << (lower & 7));
    return key;
  }

  /** Signatures of keys that resemble each other are as those of random keys would be. */
  @Nested
  @ParameterizedClass
  @EnumSource
  class OfAFamily {
    private static final int KEYS = 1 << 17;

    @Parameter Family family;

    private final long[] high = new long[KEYS];
    private final long[] low = new long[KEYS];

    private void signAll() {
      MumHash hash = new MumHash(0);
      for (int i = 0; i < KEYS; i++) {
        byte[] key = family.keys.apply(i);
        hash.sign(key, 0, key.length, signature);
        high[i] = signature.high;
        low[i] = signature.low;
      }
    }

    /** Pairs of keys with the same value of these bits, of which a birthday makes a few. */
    private void checkCollisions(String what, int bits, IntFunction<Long> value) {
      long[] values = new long[KEYS];
      Arrays.setAll(values, i -> value.apply(i));
      Arrays.sort(values);
      int pairs = 0;
      for (int i = 1; i < KEYS; i++) {
        pairs += values[i] == values[i - 1] ? 1 : 0;
      }
      double expected = Math.scalb(KEYS * (KEYS - 1.0) / 2, -bits);
      assertThat((double) pairs)
          .as("collisions of %s", what)
          .isBetween(
              expected - SIGMAS * Math.sqrt(expected) - 1,
              expected + SIGMAS * Math.sqrt(expected) + 3);
    }

    /** Values of ten bits, which should be equally frequent. */
    private void checkEven(String what, IntFunction<Long> value) {
      int[] counts = new int[1 << 10];
      for (int i = 0; i < KEYS; i++) {
        counts[value.apply(i).intValue()]++;
      }
      double expected = KEYS / (double) counts.length;
      double chiSquare = 0;
      for (int count : counts) {
        chiSquare += (count - expected) * (count - expected) / expected;
      }
      int degrees = counts.length - 1;
      assertThat(Math.abs(chiSquare - degrees))
          .as(what)
          .isLessThan(SIGMAS * Math.sqrt(2.0 * degrees));
    }

    @Test
    void theyCollideAsRandomOnesDo() {
      signAll();
      for (int shift = 0; shift <= 32; shift += 8) {
        int from = shift;
        checkCollisions("32 bits of high from " + shift, 32, i -> high[i] >>> from & 0xFFFF_FFFFL);
        checkCollisions("32 bits of low from " + shift, 32, i -> low[i] >>> from & 0xFFFF_FFFFL);
      }
      checkCollisions("both tops", 32, i -> high[i] >>> 48 << 16 | low[i] >>> 48);
      checkCollisions("top and bottom", 32, i -> high[i] >>> 48 << 16 | low[i] & 0xFFFF);
      checkCollisions("both bottoms", 32, i -> (high[i] & 0xFFFF) << 16 | low[i] & 0xFFFF);
      checkCollisions("the difference", 32, i -> high[i] - low[i] >>> 32);
      checkCollisions("40 bits of high", 40, i -> high[i] >>> 24);
      checkCollisions("40 bits of low", 40, i -> low[i] & (1L << 40) - 1);
      checkCollisions("high", 64, i -> high[i]);
      checkCollisions("low", 64, i -> low[i]);
    }

    @Test
    void theyAreEven() {
      signAll();
      checkEven("bins", i -> high[i] >>> 54);
      checkEven("bottom of high", i -> high[i] & 1023);
      checkEven("top of low", i -> low[i] >>> 54);
      checkEven("checksum bits", i -> low[i] & 1023);
      checkEven("filter bits", i -> low[i] >>> 16 & 1023);
      checkEven("bins and checksum bits", i -> high[i] >>> 59 << 5 | low[i] & 31);
    }
  }

  /** Keys whose words are those of keys of other lengths differ with every seed. */
  @Test
  void theLengthCounts() {
    for (long seed : new long[] {0, 1, -1, random.nextLong()}) {
      MumHash hash = new MumHash(seed);
      for (int value : new int[] {0, 1, 'x', 255}) {
        Set<Integer> halves = new HashSet<>();
        for (int length = 0; length <= 300; length++) {
          byte[] key = new byte[length];
          Arrays.fill(key, (byte) value);
          sign(hash, key);
          halves.add((int) signature.high);
          halves.add((int) (signature.high >>> 32));
          halves.add((int) signature.low);
          halves.add((int) (signature.low >>> 32));
        }
        assertThat(halves).hasSizeGreaterThan(4 * 301 - 3);
      }
    }
  }

  static Stream<long[]> factors() {
    return Stream.of(0, 1, -1, 2).flatMap(x -> Stream.of(0, 1, -1, 2).map(y -> new long[] {x, y}));
  }

  /** With a known seed one can choose the factors; even zeros lose nothing of the other word. */
  @ParameterizedTest
  @MethodSource("factors")
  void factorsThatWereChosenLoseNothing(long[] factors) {
    MumHash hash = new MumHash(0);
    Set<List<Long>> seen = new HashSet<>();
    int keys = 2_000;
    for (int i = 0; i < keys; i++) {
      long any = random.nextLong();
      seen.add(sign(hash, longs(MumHash.secret(0, 1) ^ factors[0], any)));
      seen.add(sign(hash, longs(any, MumHash.secret(0, 2) ^ factors[1])));
      seen.add(
          sign(
              hash,
              longs(
                  MumHash.secret(0, 1) ^ factors[0],
                  MumHash.secret(0, 2) ^ factors[1],
                  any,
                  ~any)));
      seen.add(sign(hash, longs(MumHash.secret(0, 1) ^ factors[0], any, 0, 0)));
    }
    assertThat(seen).hasSize(4 * keys);
  }

  @Test
  void anotherSeedGivesOtherSignatures() {
    Set<List<Long>> seen = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      seen.add(sign(new MumHash(i), new byte[] {1, 2, 3}));
      seen.add(sign(new MumHash((long) i << 32 | 1L << 63), new byte[] {1, 2, 3}));
      seen.add(sign(new MumHash(MumHash.secret(i, 9)), new byte[] {1, 2, 3}));
    }
    assertThat(seen).hasSize(3000);
  }
}
