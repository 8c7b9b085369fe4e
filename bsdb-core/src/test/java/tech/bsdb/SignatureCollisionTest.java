package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.error.DuplicateKeyException;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/**
 * Keys that were made to break the hash function: never a wrong value, a lost record or an endless
 * build.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SignatureCollisionTest {
  private static final BuildOptions SPOOKY =
      BuildOptions.defaults().withLayout(Layout.BLOCKED).withSignature(SignatureAlgorithm.SPOOKY);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureCollisionTest");

  private static Signature signature(byte[] key) {
    Signature signature = new Signature();
    signature.compute(key, 0, key.length, 0);
    return signature;
  }

  private static byte[] collidingWith(byte[] key, long salt) {
    Signature signature = signature(key);
    return SpookyCollision.key(signature.high, signature.low, salt);
  }

  @Test
  void theKeysDoCollide() {
    byte[] key = Truth.utf8("victim");
    for (int salt = 0; salt < 100; salt++) {
      byte[] other = collidingWith(key, salt);
      assertThat(other).isNotEqualTo(key);
      assertThat(signature(other).high).isEqualTo(signature(key).high);
      assertThat(signature(other).low).isEqualTo(signature(key).low);
    }
  }

  @ParameterizedTest
  @EnumSource
  void anAbsentKeyWithTheSignatureOfAPresentOneIsAbsent(Layout layout) throws Exception {
    Truth truth = Truth.random(random, 300, 50);
    for (int i = 0; i < 300; i++) {
      truth.absent(collidingWith(truth.records().get(i).key(), i));
    }
    Path target = directory.resolve("db");
    truth.build(target, SPOOKY.withLayout(layout).withChecksumBits(32));
    truth.check(target);
  }

  @ParameterizedTest
  @EnumSource
  void twoKeysWithOneSignatureAreRefused(DuplicatePolicy policy) {
    Truth truth = Truth.random(random, 300, 50);
    byte[] key = truth.records().get(100).key();
    truth.add(collidingWith(key, 7), Truth.utf8("attacker"));
    assertThatThrownBy(() -> truth.build(directory.resolve("db"), SPOOKY.withDuplicates(policy)))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(DuplicateKeyException.class)
        .hasMessageContaining("have the same 128-bit signature; build with another seed (--seed")
        .hasMessageContaining(DuplicateKeyException.show(key));
    assertThat(directory).isEmptyDirectory();
  }

  /** A key with a tail of zeros, whose length is made up for in its third word. */
  private static byte[] endingInZeros(int length) {
    return ByteBuffer.allocate(length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(16, 4711 - 8L * length)
        .array();
  }

  @ParameterizedTest
  @EnumSource
  void forKeysThatCollideWithEverySeedThePackedLayoutIsAdvised(DuplicatePolicy policy)
      throws Exception {
    Truth truth = Truth.random(random, 300, 50);
    byte[] shorter = endingInZeros(33);
    byte[] longer = endingInZeros(38);
    truth.add(shorter, Truth.utf8("shorter"));
    truth.add(longer, Truth.utf8("longer"));
    BuildOptions options = SPOOKY.withDuplicates(policy);
    for (long seed : new long[] {0, random.nextLong()}) {
      assertThatThrownBy(() -> truth.build(directory.resolve("db"), options.withSeed(seed)))
          .isInstanceOf(IOException.class)
          .hasMessageContaining(DuplicateKeyException.show(shorter))
          .hasMessageContaining(DuplicateKeyException.show(longer))
          .hasMessageContaining("signature with every seed; another seed does not help")
          .hasMessageContaining("--layout packed");
    }
    Path target = directory.resolve("packed");
    truth.build(target, options.withLayout(Layout.PACKED));
    truth.check(target);
  }

  /** The packed layouts compare keys: they need no signature of its own for each. */
  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void packedKeysWithOneSignatureAreAllFound(Layout layout) throws Exception {
    Truth truth = Truth.random(random, 300, 50);
    for (int i = 0; i < 30; i++) {
      byte[] key = truth.records().get(i).key();
      for (int salt = 0; salt <= i; salt++) {
        truth.add(collidingWith(key, salt), Truth.bytes(random, random.nextInt(200)));
      }
      truth.absent(collidingWith(key, 1000));
    }
    Path target = directory.resolve("db");
    truth.build(target, SPOOKY.withLayout(layout));
    truth.check(target);
  }

  /** They lie in one bin and, if compressed, in one part of it. */
  @ParameterizedTest
  @CsvSource({"PACKED, 20", "PACKED, 3000", "PACKED_COMPRESSED, 200", "PACKED_COMPRESSED, 3000"})
  void packedKeysWithOnePrefixOfTheSignatureAreAllFound(Layout layout, int longest)
      throws Exception {
    Truth truth = Truth.random(random, 1000, longest);
    for (long high : new long[] {0, -1, random.nextLong()}) {
      for (int i = 0; i < 100; i++) {
        byte[] key = SpookyCollision.key(high, random.nextLong(), i);
        truth.add(key, Truth.bytes(random, random.nextInt(longest + 1)));
        truth.absent(SpookyCollision.key(high, random.nextLong(), i));
      }
    }
    Path target = directory.resolve("db");
    truth.build(target, SPOOKY.withLayout(layout).withDataFiles(2));
    truth.check(target);
  }

  @ParameterizedTest
  @EnumSource
  void keysThatCollideUnderOneSeedBuildWithAnother(DuplicatePolicy policy) throws Exception {
    Truth truth = Truth.random(random, 300, 50);
    for (int i = 0; i < 50; i++) {
      truth.add(collidingWith(truth.records().get(i).key(), i), Truth.utf8("attacker " + i));
    }
    Path target = directory.resolve("db");
    truth.build(target, SPOOKY.withDuplicates(policy).withSeed(random.nextLong() | 1));
    truth.check(target);
  }

  private static Truth thatCollideByMum(Truth truth) {
    for (int salt = 0; salt < 20; salt++) {
      truth.add(MumCollision.key(4711, salt), Truth.utf8("of " + salt));
      truth.absent(MumCollision.key(4711, -1 - salt));
    }
    return truth;
  }

  @ParameterizedTest
  @EnumSource
  void twoKeysWithOneSignatureByMumAreRefused(DuplicatePolicy policy) throws Exception {
    Truth truth = thatCollideByMum(Truth.random(random, 300, 50));
    BuildOptions options =
        BuildOptions.defaults().withLayout(Layout.BLOCKED).withDuplicates(policy);
    assertThatThrownBy(() -> truth.build(directory.resolve("db"), options))
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(DuplicateKeyException.class)
        .hasMessageContaining("have the same 128-bit signature; build with another seed (--seed");
    assertThat(directory).isEmptyDirectory();
    Path target = directory.resolve("db");
    truth.build(target, options.withSeed(random.nextLong() | 1));
    truth.check(target);
  }

  @ParameterizedTest
  @EnumSource(names = {"PACKED", "PACKED_COMPRESSED"})
  void packedKeysWithOneSignatureByMumAreAllFound(Layout layout) throws Exception {
    Truth truth = thatCollideByMum(Truth.random(random, 300, 50));
    for (int salt = 0; salt < 300; salt++) {
      truth.add(MumCollision.startingWithZero(salt), Truth.bytes(random, 9));
      truth.absent(MumCollision.startingWithZero(-1 - salt));
    }
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(layout));
    truth.check(target);
  }

  @Test
  void theKeysDoCollideByMum() {
    SignatureFunction function = SignatureFunction.of(BuildOptions.defaults());
    Signature first = new Signature();
    byte[] one = MumCollision.key(4711, 0);
    function.sign(one, 0, one.length, first);
    Signature next = new Signature();
    for (int salt = 1; salt < 100; salt++) {
      byte[] other = MumCollision.key(4711, salt);
      assertThat(other).isNotEqualTo(one);
      function.sign(other, 0, other.length, next);
      assertThat(next.high).isEqualTo(first.high);
      assertThat(next.low).isEqualTo(first.low);
      byte[] zero = MumCollision.startingWithZero(salt);
      function.sign(zero, 0, zero.length, next);
      assertThat(next.high).isZero();
    }
  }

  /** The pairs that collide by SpookyHash with every seed are keys like others. */
  @Test
  void noLengthMakesKeysCollideByMum() throws Exception {
    Truth truth = Truth.random(random, 300, 50);
    for (int length = 24; length <= 100; length++) {
      truth.add(endingInZeros(length), Truth.utf8("of " + length));
    }
    Path target = directory.resolve("db");
    truth.build(target, BuildOptions.defaults().withLayout(Layout.BLOCKED));
    truth.check(target);
  }

  @Tag("nightly")
  @Test
  void moreKeysInABucketThanFitAreRefused() {
    Truth truth = new Truth();
    for (int i = 0; i < 700; i++) {
      truth.add(SpookyCollision.key(42, random.nextLong(), i), new byte[1]);
    }
    assertThatThrownBy(() -> truth.build(directory.resolve("db"), SPOOKY))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("signatures")
        .hasMessageContaining("--seed");
    assertThat(directory).isEmptyDirectory();
  }

  @ParameterizedTest
  @EnumSource
  void aCrowdedPartOfTheSignaturesTakesMoreBuckets(DuplicatePolicy policy) throws Exception {
    Truth truth = new Truth();
    for (int i = 0; i < 600; i++) { // of three buckets the first would get more than fit
      long high = random.nextLong() >>> 1;
      truth.add(
          SpookyCollision.key(
              Long.divideUnsigned(-1L, 3) / 1000 * (high % 1000), random.nextLong(), i),
          new byte[5]);
    }
    for (int i = 0; i < 400; i++) {
      truth.add(
          SpookyCollision.key(random.nextLong() | Long.MIN_VALUE, random.nextLong(), i),
          new byte[6]);
    }
    Path target = directory.resolve("db");
    BuildReport report = truth.build(target, SPOOKY.withDuplicates(policy));
    assertThat(report.records()).isEqualTo(1000);
    assertThat(Leaks.tree(directory)).hasSize(5);
    truth.check(target);
  }
}
