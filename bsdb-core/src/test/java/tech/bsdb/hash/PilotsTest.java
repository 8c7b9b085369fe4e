package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.BitSet;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tech.bsdb.Seeds;

/** Parts of every size get pilots that give each key a slot of its own. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PilotsTest {
  private final SplittableRandom random = Seeds.random("PilotsTest");

  /** First halves in one of 2^n parts, ascending as unsigned numbers. */
  private static long[] highs(SplittableRandom random, int count, long parts, long part) {
    int bits = Long.numberOfTrailingZeros(parts);
    long[] highs =
        random
            .longs(count)
            .map(any -> (part << Long.SIZE - bits | any >>> bits) ^ Long.MIN_VALUE)
            .sorted()
            .toArray();
    Arrays.setAll(highs, i -> highs[i] ^ Long.MIN_VALUE);
    return highs;
  }

  private long[] highs(int count, long parts, long part) {
    return highs(random, count, parts, part);
  }

  /** Each key has a slot of its own, and a lookup by pilots and remap finds it. */
  private static void assertBijection(Pilots found, long[] high, long[] low, long parts) {
    int keys = high.length;
    int[] remap = found.remap();
    int[] slots = found.assign(remap);
    byte[] pilots = found.pilots();
    BitSet given = new BitSet(keys);
    for (int i = 0; i < keys; i++) {
      int bucket = Pilots.bucket(Pilots.fraction(high[i], parts), Pilots.buckets(keys));
      long hash = Pilots.hash(high[i], low[i], Pilots.multiplier(found.seed()));
      int slot = Pilots.slot(hash, pilots[bucket] & 0xFF, Pilots.slots(keys));
      int own = slot < keys ? slot : remap[slot - keys];
      if (own < 0 || own >= keys || own != slots[i] || given.get(own)) {
        throw new AssertionError(
            "key " + i + " of " + keys + " has slot " + own + ", assigned " + slots[i]);
      }
      given.set(own);
    }
    assertThat(given.cardinality()).isEqualTo(keys);
    for (int slot : remap) {
      assertThat(slot).isBetween(0, Math.max(0, keys - 1));
    }
    assertThat(pilots).doesNotContain(0);
  }

  @Test
  void everySmallSizeIsSolved() throws Exception {
    for (int keys = 0; keys <= 1000; keys++) {
      long parts = 1L << random.nextInt(20);
      long[] high = highs(keys, parts, random.nextLong(parts));
      long[] low = random.longs(keys).toArray();
      assertBijection(Pilots.find(high, low, 0, keys, parts), high, low, parts);
    }
  }

  /** -Dbsdb.pilots.sets= sets of every size up to 5,000. */
  @Tag("long")
  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void everySizeUpToFiveThousandIsSolved() {
    int sets = Integer.getInteger("bsdb.pilots.sets", 20);
    long seed = random.nextLong();
    int[] retried =
        IntStream.rangeClosed(0, 5000)
            .parallel()
            .map(keys -> solved(new SplittableRandom(seed + keys), keys, sets))
            .toArray();
    int all = Arrays.stream(retried).sum();
    System.out.println(retried.length * sets + " sets, of which " + all + " took another seed");
  }

  /** Solves random sets of a size and returns how many of them took another seed. */
  private static int solved(SplittableRandom random, int keys, int sets) {
    int retried = 0;
    for (int set = 0; set < sets; set++) {
      long parts = 1L << random.nextInt(20);
      long[] high = highs(random, keys, parts, random.nextLong(parts));
      long[] low = random.longs(keys).toArray();
      try {
        Pilots found = Pilots.find(high, low, 0, keys, parts);
        assertBijection(found, high, low, parts);
        retried += found.seed() > 0 ? 1 : 0;
      } catch (BucketOverflowException e) {
        throw new AssertionError("set " + set + " of " + keys + " keys", e);
      }
    }
    return retried;
  }

  @Test
  void largeSizesAreSolved() throws Exception {
    for (int keys : new int[] {5000, 24_576, 49_152, Pilots.MAX_KEYS}) {
      long[] high = highs(keys, 4, 3);
      long[] low = random.longs(keys).toArray();
      assertBijection(Pilots.find(high, low, 0, keys, 4), high, low, 4);
    }
  }

  /** Sets that no pilots of the first seed solve are solved with another one. */
  @Test
  void anotherSeedIsTakenWhereThePilotsDoNotSuffice() throws Exception {
    int retried = 0;
    for (int set = 0; set < 10_000; set++) {
      int keys = 200 + set % 800;
      long[] high = highs(keys, 1, 0);
      long[] low = random.longs(keys).toArray();
      Pilots found = Pilots.find(high, low, 0, keys, 1);
      if (found.seed() > 0) {
        retried++;
        assertBijection(found, high, low, 1);
      }
    }
    assertThat(retried).as("sets of 10,000 that took another seed").isBetween(1, 500);
  }

  /** All keys share the first half of their signatures, and thus the bucket. */
  @Test
  void keysOfOneBucketAreSolved() throws Exception {
    for (int keys = 1; keys <= 8; keys++) {
      long[] high = new long[keys];
      Arrays.fill(high, random.nextLong());
      long[] low = random.longs(keys).sorted().toArray();
      assertBijection(Pilots.find(high, low, 0, keys, 1), high, low, 1);
    }
  }

  @Test
  void signaturesThatDifferInOneBitAreSolved() throws Exception {
    long[] high = new long[129];
    long[] low = new long[129];
    long anyHigh = random.nextLong() | 1L << 63;
    long anyLow = random.nextLong();
    Arrays.fill(high, anyHigh);
    Arrays.fill(low, anyLow);
    for (int bit = 0; bit < 64; bit++) {
      high[1 + bit] ^= 1L << bit;
    }
    long[] ascending =
        Arrays.stream(high)
            .map(h -> h ^ Long.MIN_VALUE)
            .sorted()
            .map(h -> h ^ Long.MIN_VALUE)
            .toArray();
    int same = 0;
    for (int i = 0; i < 129; i++) {
      if (ascending[i] == anyHigh) {
        low[i] ^= same == 0 ? 0 : 1L << same % 64;
        same++;
      }
    }
    // More keys of one bucket than that have no place in a part of so few slots.
    int kept = 16;
    int[] chosen = random.ints(0, 129).distinct().limit(kept).sorted().toArray();
    long[] someHigh = Arrays.stream(chosen).mapToLong(i -> ascending[i]).toArray();
    long[] someLow = Arrays.stream(chosen).mapToLong(i -> low[i]).toArray();
    assertBijection(Pilots.find(someHigh, someLow, 0, kept, 1), someHigh, someLow, 1);
  }

  @Test
  void whatNoSeedSolvesIsRefused() {
    long[] equal = new long[2]; // two equal signatures, which no builder passes on
    assertThatThrownBy(() -> Pilots.find(equal, equal, 0, 2, 1))
        .isInstanceOf(BucketOverflowException.class);
  }

  /**
   * Keys chosen so that every third bucket stays empty, which takes one and a half times as many
   * random ones. The search would evict for more than an hour.
   */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void keysThatWereChosenToCrowdBucketsAreRefusedSoon() {
    int keys = 40_000;
    int buckets = Pilots.buckets(keys);
    long[] crowding =
        Arrays.stream(highs(66_000, 1, 0))
            .filter(each -> Pilots.bucket(Pilots.fraction(each, 1), buckets) % 3 != 0)
            .toArray();
    assertThat(crowding).hasSizeGreaterThan(keys); // by 30 standard deviations
    long[] high =
        LongStream.range(0, keys).map(i -> crowding[(int) (i * crowding.length / keys)]).toArray();
    long[] low = random.longs(keys).toArray();
    assertThatThrownBy(() -> Pilots.find(high, low, 0, keys, 1))
        .isInstanceOf(BucketOverflowException.class);
  }

  @Test
  void bucketsAreInTheOrderOfTheFractions() {
    for (int i = 0; i < 10_000; i++) {
      int buckets = Pilots.buckets(random.nextInt(Pilots.MAX_KEYS));
      long one = random.nextLong();
      long other = random.nextLong();
      long smaller = Long.compareUnsigned(one, other) < 0 ? one : other;
      long larger = smaller == one ? other : one;
      assertThat(Pilots.bucket(smaller, buckets)).isBetween(0, Pilots.bucket(larger, buckets));
      assertThat(Pilots.bucket(larger, buckets)).isLessThan(buckets);
    }
    assertThat(Pilots.bucket(0, 100)).isZero();
    assertThat(Pilots.bucket(-1, 100)).isEqualTo(99);
  }

  @Test
  void theSamePartHasTheSameSolution() throws Exception {
    long[] high = highs(3000, 1, 0);
    long[] low = random.longs(3000).toArray();
    Pilots one = Pilots.find(high, low, 100, 2900, 1);
    Pilots other = Pilots.find(high, low, 100, 2900, 1);
    assertThat(other.pilots()).isEqualTo(one.pilots());
    assertThat(other.remap()).isEqualTo(one.remap());
  }
}
