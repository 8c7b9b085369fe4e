package tech.bsdb.hash;

import java.util.Arrays;

/*
 * PtrHash (Ragnar Groot Koerkamp, "PtrHash: Minimal Perfect Hashing at RAM Throughput", SEA 2025), which descends from
 * PTHash (Pibiri and Trani, SIGIR 2021) and FCH (Fox, Chen and Heath, SIGIR 1992).
 *
 * THE FUNCTION. The keys of a part, k of them, are thrown into m buckets, 3.3 keys in each on average. Every bucket has
 * a pilot: a number from 1 to 255, one byte. The slot of a key is a hash of its signature and the pilot of its bucket,
 * scaled to s slots, half a per cent more than keys. Slots of k and above are remapped, through a small table, to the
 * slots below k that no key has. A lookup thus reads one byte at random, and in one case of 200 two more.
 *
 * THE SEARCH. Buckets are taken from the largest to the smallest, so that the difficult ones find the slots free. For
 * each, the search tries all pilots in turn until one gives all its keys slots that are free and distinct. If there is
 * none, it evicts other buckets, as in cuckoo hashing, and places them again at once: it takes the first pilot that
 * evicts no more than it places, in squares of the buckets' sizes, or else the one that evicts least. The last 16 buckets
 * that evicted others are spared, which breaks cycles. If the evictions do not end, the part is solved again with another
 * seed, which is stored with it. The evictions of all seeds together are bounded: keys that were chosen to crowd the same
 * buckets would otherwise occupy the search for hours. The search is deterministic.
 *
 * SKEW. If all buckets had the same expected size, the last ones would be as large as the first and hardly fit. The
 * bucket of a fraction x of the part is therefore not x * m but g(x) * m with g(x) = 255/256 * x^2 (1 + x) / 2 + x/256,
 * the "cubic" function of the paper: the first buckets are large, while most slots are free, and the last ones have one
 * or two keys. The term x/256 bounds the first bucket.
 *
 * CONSTANTS. 3.3 keys a bucket and 0.5 % more slots cost 8 * 0.3 + 16 / 200 = 2.48 bits a key. The paper's 3.5 keys and
 * 1 % cost as much, but the search tests more pilots (39 slots a key instead of 34). The 32 buckets and 8 slots on top
 * matter to small parts alone, which deviate more from the expectation (docs/decisions/0013). Few parts with many keys
 * deviate least; 65,535 keys are the limit of the 16-bit remap, and a part of 50,000 lets the search work in the
 * second-level cache.
 */

/**
 * Finds the pilots of one part of a function of the kind "ptr" and defines how a signature is
 * mapped to a slot (FORMAT.md §13). The comment above this class explains the algorithm. An
 * instance solves one part and belongs to one thread; the static functions are pure.
 */
final class Pilots {
  /** Maximum keys per part: relative slots, increased by one, fit in 16 bits. */
  static final int MAX_KEYS = 65_535;

  /** One more than the largest pilot. A byte 0 is never a pilot, so a zeroed page is noticed. */
  private static final int END = 256;

  /** The number of seeds. */
  private static final int SEEDS = 256;

  /**
   * Evictions per bucket after which the search begins again with another seed. With random
   * signatures, seeds that succeed need less than a tenth of it (measured).
   */
  private static final int MAX_EVICTIONS = 1;

  /** Evictions per bucket, of all seeds together, after which the search gives up. */
  private static final int MAX_EVICTIONS_OF_ALL_SEEDS = 4;

  /** How many of the buckets that evicted others last are not evicted. */
  private static final int RECENT = 16;

  // Odd constants of good multipliers: 2^64 divided by the golden ratio, and one of Steele and
  // Vigna ("Computationally easy, spectrally good multipliers", 2021).
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;
  private static final long SPREAD = 0xd1342543de82ef95L;

  private static final long[] PILOT_HASHES = new long[END];

  static {
    for (int pilot = 0; pilot < END; pilot++) {
      PILOT_HASHES[pilot] = pilot * SPREAD;
    }
  }

  /** The number of slots of a part, before remapping, at least one more than keys. */
  static int slots(int keys) {
    return keys + keys / 200 + 8;
  }

  /** The number of buckets of a part. */
  static int buckets(int keys) {
    return (3 * keys + 9) / 10 + 32;
  }

  /** How far into its part a signature lies: 2^64 times a number from 0 to 1. */
  static long fraction(long high, long parts) {
    return (high >>> 1) * (parts << 1);
  }

  /** The bucket of a {@link #fraction}. Never decreases with the fraction, as unsigned numbers. */
  static int bucket(long fraction, int buckets) {
    long x = fraction >>> 32;
    long square = x * x >>> 32;
    long cubic = (square >>> 1) * ((1L << 32) + x) >>> 32;
    long skewed = cubic - (cubic >>> 8) + (x >>> 8);
    return (int) (skewed * buckets >>> 32);
  }

  /** The multiplier that distinguishes the seeds, 0 to 255, of a part. */
  static long multiplier(int seed) {
    return SPREAD + 2L * seed;
  }

  /** The hash of a signature that the pilots rearrange. */
  static long hash(long high, long low, long multiplier) {
    return low + high * multiplier;
  }

  /** The slot of a {@link #hash} under a pilot, 0 to {@code slots} - 1. */
  static int slot(long hash, int pilot, int slots) {
    return scale(hash, pilot * SPREAD, slots);
  }

  private static int scale(long hash, long pilotHash, int slots) {
    return (int) (((hash ^ pilotHash) * GOLDEN >>> 32) * slots >>> 32);
  }

  private final int keys;
  private final int slots;
  private final int buckets;

  /** The first key of each bucket, and the number of keys at the end. */
  private final int[] starts;

  /** The hashes of the keys, by bucket. */
  private final long[] hashes;

  private final byte[] pilots;

  /** A bit per slot: whether it is taken. */
  private final long[] taken;

  /** The bucket that has a slot, where it is taken. */
  private final int[] owners;

  /** Buckets that wait for a place, the last one first. */
  private int[] waiting = new int[64];

  private int waits;
  private final int[] recent = new int[RECENT];
  private long evictions;
  private int seed;

  private Pilots(long[] high, int from, int keys, long parts) {
    this.keys = keys;
    this.slots = slots(keys);
    this.buckets = buckets(keys);
    this.starts = new int[buckets + 1];
    this.hashes = new long[keys];
    this.pilots = new byte[buckets];
    this.taken = new long[(slots + 63) >>> 6];
    this.owners = new int[slots];
    for (int i = 0; i < keys; i++) {
      starts[bucket(fraction(high[from + i], parts), buckets) + 1]++;
    }
    for (int bucket = 0; bucket < buckets; bucket++) {
      starts[bucket + 1] += starts[bucket];
    }
  }

  /**
   * Finds the pilots of a part.
   *
   * @param high first halves of the signatures of its keys; signatures are distinct and ascending
   * @param low second halves
   * @param from the index of its first signature in both arrays
   * @param keys the number of its signatures, 0 to {@link #MAX_KEYS}
   * @param parts the number of parts of the function
   * @throws BucketOverflowException if no seed solves it
   */
  static Pilots find(long[] high, long[] low, int from, int keys, long parts)
      throws BucketOverflowException {
    Pilots found = new Pilots(high, from, keys, parts);
    int[] order = found.largestFirst();
    long most = (long) MAX_EVICTIONS_OF_ALL_SEEDS * found.buckets;
    long evictions = 0;
    for (int seed = 0; seed < SEEDS && evictions < most; seed++) {
      found.hashAll(high, low, from, seed);
      if (found.placeAll(order)) {
        return found;
      }
      evictions += found.evictions;
    }
    throw new BucketOverflowException(keys);
  }

  private void hashAll(long[] high, long[] low, int from, int seed) {
    long multiplier = multiplier(seed);
    for (int i = 0; i < keys; i++) {
      hashes[i] = hash(high[from + i], low[from + i], multiplier);
    }
    this.seed = seed;
  }

  /** The seed of the part, 0 to 255. */
  int seed() {
    return seed;
  }

  /** The pilot of each bucket; 1 where the bucket is empty. */
  byte[] pilots() {
    return pilots;
  }

  /**
   * The slots that replace those of {@link #MAX_KEYS keys} and above; for one that no key has, any
   * slot below the number of keys, or 0.
   */
  int[] remap() {
    int[] remap = new int[slots - keys];
    int free = -1;
    for (int i = 0; i < remap.length; i++) {
      if (isTaken(keys + i)) {
        do {
          free++;
        } while (isTaken(free));
        remap[i] = free;
      }
    }
    return remap;
  }

  /** The slot of each key, remapped: each number from 0 to keys - 1 once. */
  int[] assign(int[] remap) {
    int[] assigned = new int[keys];
    for (int bucket = 0; bucket < buckets; bucket++) {
      for (int i = starts[bucket]; i < starts[bucket + 1]; i++) {
        int slot = slot(hashes[i], pilots[bucket] & 0xFF, slots);
        assigned[i] = slot < keys ? slot : remap[slot - keys];
      }
    }
    return assigned;
  }

  /** All buckets with keys, the largest first, equal ones in order. */
  private int[] largestFirst() {
    int largest = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      largest = Math.max(largest, size(bucket));
    }
    int[] next = new int[largest + 2];
    for (int bucket = 0; bucket < buckets; bucket++) {
      next[largest - size(bucket) + 1]++;
    }
    for (int i = 1; i < next.length; i++) {
      next[i] += next[i - 1];
    }
    int filled = next[largest];
    int[] order = new int[buckets];
    for (int bucket = 0; bucket < buckets; bucket++) {
      order[next[largest - size(bucket)]++] = bucket;
    }
    return Arrays.copyOf(order, filled);
  }

  private int size(int bucket) {
    return starts[bucket + 1] - starts[bucket];
  }

  /*
   * Loops that run often are in methods of their own, here and in the callers. Otherwise the JVM compiles every method
   * around the search that has such a loop, each time with the whole search inlined: in a build of 10 million records,
   * that took 0.3 s (measured).
   */

  /** Finds pilots for the hashes of the current seed; returns whether it did. */
  private boolean placeAll(int[] order) {
    Arrays.fill(taken, 0);
    Arrays.fill(pilots, (byte) 1);
    Arrays.fill(recent, -1);
    evictions = 0;
    waits = 0;
    for (int bucket : order) {
      await(bucket);
      if (!placeWaiting()) {
        return false;
      }
    }
    return true;
  }

  private boolean placeWaiting() {
    while (waits > 0) {
      int next = waiting[--waits];
      if (!placeFree(next) && !placeEvicting(next)) {
        return false;
      }
    }
    return true;
  }

  private void await(int bucket) {
    if (waits == waiting.length) {
      waiting = Arrays.copyOf(waiting, 2 * waits);
    }
    waiting[waits++] = bucket;
  }

  /*
   * Most of the time of a build is spent here, most of it with buckets of two and three keys. The slots of a pilot are
   * tested without a branch between them: a nearly full table would mispredict one for each pilot (measured: 130 ns a key
   * instead of 180).
   */
  private boolean placeFree(int bucket) {
    return switch (size(bucket)) {
      case 1 -> placeOne(bucket, hashes[starts[bucket]]);
      case 2 -> placeTwo(bucket, hashes[starts[bucket]], hashes[starts[bucket] + 1]);
      case 3 -> placeThree(bucket, starts[bucket]);
      default -> placeMore(bucket, starts[bucket], starts[bucket + 1]);
    };
  }

  private boolean placeOne(int bucket, long hash) {
    for (int pilot = 1; pilot < END; pilot++) {
      if ((use(hash, PILOT_HASHES[pilot]) & 1) == 0) {
        return take(bucket, pilot);
      }
    }
    return false;
  }

  private boolean placeTwo(int bucket, long first, long second) {
    for (int pilot = 1; pilot < END; pilot++) {
      long pilotHash = PILOT_HASHES[pilot];
      if (((use(first, pilotHash) | use(second, pilotHash)) & 1) == 0 && take(bucket, pilot)) {
        return true;
      }
    }
    return false;
  }

  private boolean placeThree(int bucket, int from) {
    long first = hashes[from];
    long second = hashes[from + 1];
    long third = hashes[from + 2];
    for (int pilot = 1; pilot < END; pilot++) {
      long pilotHash = PILOT_HASHES[pilot];
      long used = use(first, pilotHash) | use(second, pilotHash) | use(third, pilotHash);
      if ((used & 1) == 0 && take(bucket, pilot)) {
        return true;
      }
    }
    return false;
  }

  private boolean placeMore(int bucket, int from, int to) {
    long first = hashes[from];
    long second = hashes[from + 1];
    long third = hashes[from + 2];
    long fourth = hashes[from + 3];
    for (int pilot = 1; pilot < END; pilot++) {
      long pilotHash = PILOT_HASHES[pilot];
      long used =
          use(first, pilotHash)
              | use(second, pilotHash)
              | use(third, pilotHash)
              | use(fourth, pilotHash);
      for (int i = from + 4; i < to && (used & 1) == 0; i++) {
        used |= use(hashes[i], pilotHash);
      }
      if ((used & 1) == 0 && take(bucket, pilot)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the slot of a hash is taken: the lowest bit. */
  private long use(long hash, long pilotHash) {
    int slot = scale(hash, pilotHash, slots);
    return taken[slot >>> 6] >>> slot;
  }

  private boolean isTaken(int slot) {
    return (taken[slot >>> 6] & 1L << slot) != 0;
  }

  /** Gives a bucket a pilot, unless a slot is taken or two of its keys have the same one. */
  private boolean take(int bucket, int pilot) {
    for (int i = starts[bucket]; i < starts[bucket + 1]; i++) {
      int slot = slot(hashes[i], pilot, slots);
      if (isTaken(slot)) {
        release(bucket, i, pilot);
        return false;
      }
      taken[slot >>> 6] |= 1L << slot;
      owners[slot] = bucket;
    }
    pilots[bucket] = (byte) pilot;
    return true;
  }

  /** Frees the slots of a bucket's keys up to one of them. */
  private void release(int bucket, int to, int pilot) {
    for (int i = starts[bucket]; i < to; i++) {
      int slot = slot(hashes[i], pilot, slots);
      taken[slot >>> 6] &= ~(1L << slot);
    }
  }

  /** Places a bucket where it evicts the smallest buckets; returns false to give up. */
  private boolean placeEvicting(int bucket) {
    if (evictions >= (long) MAX_EVICTIONS * buckets) {
      return false;
    }
    int best = 0;
    long least = Long.MAX_VALUE;
    long acceptable = (long) size(bucket) * size(bucket); // no worse than not placing this one
    int pilot = (int) (evictions * 97 % (END - 1)); // does not favour the low pilots
    for (int tried = 1; tried < END; tried++) {
      pilot = pilot % (END - 1) + 1;
      long cost = cost(bucket, pilot, least);
      if (cost < least && areDistinct(bucket, pilot)) {
        least = cost;
        best = pilot;
        if (cost <= acceptable) {
          break;
        }
      }
    }
    if (best == 0) {
      return false;
    }
    for (int i = starts[bucket]; i < starts[bucket + 1]; i++) {
      int slot = slot(hashes[i], best, slots);
      if (isTaken(slot)) {
        int evicted = owners[slot];
        release(evicted, starts[evicted + 1], pilots[evicted] & 0xFF);
        await(evicted);
      }
    }
    if (!take(bucket, best)) {
      throw new IllegalStateException("bucket " + bucket + " found its slots taken");
    }
    recent[(int) (evictions++ % RECENT)] = bucket;
    return true;
  }

  /** The sum of the squared sizes of the buckets that a pilot evicts, or {@code most} or above. */
  private long cost(int bucket, int pilot, long most) {
    long cost = 0;
    for (int i = starts[bucket]; i < starts[bucket + 1] && cost < most; i++) {
      int slot = slot(hashes[i], pilot, slots);
      if (isTaken(slot)) {
        int owner = owners[slot];
        for (int spared : recent) {
          if (spared == owner) {
            return most;
          }
        }
        cost += (long) size(owner) * size(owner);
      }
    }
    return cost;
  }

  /** Whether a pilot gives different slots to all keys of a bucket. */
  private boolean areDistinct(int bucket, int pilot) {
    int[] given = new int[size(bucket)];
    for (int i = 0; i < given.length; i++) {
      given[i] = slot(hashes[starts[bucket] + i], pilot, slots);
    }
    Arrays.sort(given);
    for (int i = 1; i < given.length; i++) {
      if (given[i] == given[i - 1]) {
        return false;
      }
    }
    return true;
  }
}
