package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** Blocks hold the largest bucket, and buckets follow the signatures in order. */
class BucketLayoutTest {
  @Test
  void theChecksumBitsOfTheLargestBucketFit() {
    for (int bits = 0; bits <= 32; bits++) {
      BucketLayout layout = new BucketLayout(1, bits);
      int words = layout.blockWords() - BucketLayout.CHECKSUM_START;
      // An absent key may be led to the slot behind the bucket's last one, so that one more is
      // read.
      assertThat(words * 64)
          .as("%s bits", bits)
          .isGreaterThanOrEqualTo((BucketLayout.MAX_KEYS + 1) * bits);
    }
  }

  @Test
  void theVerticesLeaveRoomToSolveTheLargestBucket() {
    assertThat(BucketLayout.VERTICES).isGreaterThan(BucketLayout.MAX_KEYS * 110 / 100);
    assertThat(BucketLayout.MAX_KEYS).isLessThan(1 << BucketLayout.RANK_BITS);
    assertThat(BucketLayout.RANKS * BucketLayout.RANK_BITS).isLessThanOrEqualTo(54);
  }

  @Test
  void bucketsAreInTheOrderOfSignaturesAndCoverAll() {
    SplittableRandom random = Seeds.random("BucketLayoutTest");
    for (int round = 0; round < 100_000; round++) {
      long buckets = 1 + random.nextLong(1L << (1 + random.nextInt(40)));
      long a = random.nextLong();
      long b = random.nextLong();
      long smaller = Long.compareUnsigned(a, b) < 0 ? a : b;
      long larger = smaller == a ? b : a;
      assertThat(HashConstruction.bucket(smaller, buckets))
          .isLessThanOrEqualTo(HashConstruction.bucket(larger, buckets))
          .isNotNegative();
      assertThat(HashConstruction.bucket(larger, buckets)).isLessThan(buckets);
      assertThat(HashConstruction.bucket(0, buckets)).isZero();
      assertThat(HashConstruction.bucket(-1, buckets)).isEqualTo(buckets - 1);
    }
  }

  @Test
  void bucketsOfOnePartitionAreItsOwn() {
    SplittableRandom random = Seeds.random("BucketLayoutTest partitions");
    for (int round = 0; round < 100_000; round++) {
      long perPartition = 1 + random.nextLong(1L << 30);
      long high = random.nextLong();
      assertThat(HashConstruction.bucket(high, 1024 * perPartition) / perPartition)
          .isEqualTo(high >>> 54);
    }
  }

  @Test
  void furtherAttemptsMakeMoreBuckets() {
    for (long keys : new long[] {0, 1, 432, 433, 1_000_000, 10_000_000_000L}) {
      for (int attempt = 0; attempt < BucketLayout.ATTEMPTS; attempt++) {
        long buckets = BucketLayout.bucketsFor(keys, 1024, attempt);
        assertThat(buckets).isPositive();
        assertThat(buckets < 1024 || buckets % 1024 == 0).isTrue();
        assertThat(keys / buckets).isLessThanOrEqualTo(432);
        if (attempt > 0) {
          assertThat(buckets)
              .isGreaterThanOrEqualTo(BucketLayout.bucketsFor(keys, 1024, attempt - 1));
        }
      }
    }
  }
}
