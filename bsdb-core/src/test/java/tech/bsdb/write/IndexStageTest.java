package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Layout;
import tech.bsdb.Leaks;
import tech.bsdb.Rounds;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.hash.HashConstruction;
import tech.bsdb.hash.HashFunction;
import tech.bsdb.hash.HashKind;
import tech.bsdb.index.AddressIndex;
import tech.bsdb.index.SlotWriter;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.Extent;
import tech.bsdb.io.MappedEngine;

/**
 * From signatures to the hash function and the index, whose bytes depend on nothing but the
 * signatures.
 */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ParameterizedClass
@MethodSource("kinds")
class IndexStageTest {
  static List<HashKind> kinds() {
    return List.of(HashKind.GOV, HashKind.PTR);
  }

  @Parameter HashKind kind;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("IndexStageTest");
  private int made;

  @AfterEach
  void nothingIsHeld() throws Exception {
    Leaks.assertNone(directory);
  }

  /** Signatures and addresses. */
  private record Entries(long[] high, long[] low, long[] addresses) {
    int count() {
      return high.length;
    }
  }

  private Entries entries(int count) {
    return new Entries(
        random.longs(count).toArray(),
        random.longs(count).toArray(),
        random.longs(count, 0, Long.MAX_VALUE).toArray());
  }

  /** The files of a function and its index. */
  private record Built(
      HashKind kind,
      Path hash,
      FileEntry hashEntry,
      Path index,
      FileEntry indexEntry,
      long buckets,
      long keys,
      int bits) {
    HashFunction open() throws IOException {
      Facts facts =
          new Facts(
              Layout.BLOCKED,
              keys,
              0,
              0,
              0,
              0,
              0,
              SignatureAlgorithm.MUM,
              0,
              buckets,
              bits,
              0,
              0,
              1,
              0,
              0,
              0,
              null,
              null,
              null,
              null,
              null);
      return kind.open(hash, hashEntry, facts, true, null);
    }

    CheckedPages openIndex() throws IOException {
      long pages = indexEntry.pages();
      return new CheckedPages(new MappedEngine().open(index, pages * Page.SIZE), pages, null);
    }
  }

  private Built build(
      Entries entries, int bits, long memoryBytes, int threads, DuplicatePolicy kept)
      throws Exception {
    Path own = Files.createDirectory(directory.resolve("built-" + made++));
    try (SignatureSpill spill = new SignatureSpill(own.resolve("spill"), Long.BYTES);
        OutputFile hash = new OutputFile(own, HashFunction.identity(), ChunkBuffer.huge());
        OutputFile index = new OutputFile(own, AddressIndex.identity(), ChunkBuffer.huge())) {
      for (int i = 0; i < entries.count(); i++) {
        spill.add(entries.high[i], entries.low[i], entries.addresses[i]);
      }
      spill.seal();
      HashConstruction construction =
          kind.construct(spill.total(), bits, SignatureSpill.PARTITIONS, 0);
      IndexStage stage =
          new IndexStage(spill, construction, memoryBytes, threads, kept, () -> false);
      long keys = entries.count();
      long[] progress = new long[2];
      if (stage.mustCount()) {
        keys = stage.count(more -> progress[0] += more);
      }
      stage.write(
          construction.writer(hash.pages(), keys),
          new SlotWriter(index.pages(), AddressIndex.WIDTH),
          AddressIndex.WIDTH,
          more -> progress[1] += more);
      assertThat(progress[1]).isEqualTo(keys);
      hash.finish();
      index.finish();
      tech.bsdb.format.DatabaseId id = tech.bsdb.format.DatabaseId.derive(new byte[0]);
      FileEntry hashEntry = hash.entry(hash.pages().position());
      FileEntry indexEntry = index.entry(index.pages().position());
      hash.seal(id, "hash");
      index.seal(id, "index");
      return new Built(
          kind,
          own.resolve("hash"),
          hashEntry,
          own.resolve("index"),
          indexEntry,
          construction.buckets(),
          keys,
          bits);
    }
  }

  static List<Arguments> counts() {
    List<Arguments> cases = new ArrayList<>();
    for (int count :
        new int[] {
          0, 1, 2, 3, 431, 432, 433, 511, 512, 513, 1499, 1500, 1501, 49_152, 49_153, 100_000
        }) {
      for (int bits : new int[] {0, 4, 32}) {
        cases.add(Arguments.of(count, bits));
      }
    }
    cases.add(Arguments.of(20_000, 1));
    cases.add(Arguments.of(20_000, 13));
    cases.add(Arguments.of(500_000, 4));
    return cases;
  }

  @Sampled(5)
  @ParameterizedTest
  @MethodSource("counts")
  void everyKeyHasASlotOfItsOwnThatHoldsItsAddress(int count, int bits) throws Exception {
    Entries entries = entries(count);
    Built built = build(entries, bits, 1 << 20, 2, DuplicatePolicy.ERROR);
    try (HashFunction hash = built.open();
        CheckedPages pages = built.openIndex()) {
      AddressIndex index = new AddressIndex(pages);
      BitSet given = new BitSet();
      Extent extent = new Extent();
      for (int i = 0; i < count; i++) {
        long slot = hash.slot(entries.high[i], entries.low[i]);
        if (slot < 0 || slot >= count || given.get((int) slot)) {
          throw new AssertionError("key " + i + " of " + count + " has slot " + slot);
        }
        given.set((int) slot);
        if (address(index, slot, extent) != entries.addresses[i]) {
          throw new AssertionError("slot " + slot + " holds another address");
        }
      }
      assertThat(given.cardinality()).isEqualTo(count);
    }
  }

  @Test
  void absentKeysPassByTheShareThatTheChecksumBitsSay() throws Exception {
    int asked = 200_000;
    for (int bits : new int[] {0, 1, 4, 8, 13, 31, 32}) {
      Built built = build(entries(20_000), bits, 1 << 20, 2, DuplicatePolicy.ERROR);
      long passed = 0;
      try (HashFunction hash = built.open()) {
        for (int i = 0; i < asked; i++) {
          long slot = hash.slot(random.nextLong(), random.nextLong());
          if (slot != HashFunction.ABSENT) {
            assertThat(slot).isBetween(0L, 19_999L);
            passed++;
          }
        }
      }
      double expected = asked * Math.pow(2, -bits);
      assertThat((double) passed)
          .as("of %s absent keys at %s bits", asked, bits)
          .isBetween(
              expected * 0.99 - 6 * Math.sqrt(expected) - 1,
              expected + 6 * Math.sqrt(expected) + 2);
    }
  }

  @Tag("long")
  @ParameterizedTest
  @ValueSource(ints = {4, 8})
  void tenMillionAbsentKeysPassByTheShareThatTheChecksumBitsSay(int bits) throws Exception {
    int tasks = 100;
    int each = 100_000;
    Built built = build(entries(1_000_000), bits, 64 << 20, 2, DuplicatePolicy.ERROR);
    long seed = random.nextLong();
    long passed;
    try (HashFunction hash = built.open()) {
      passed =
          IntStream.range(0, tasks)
              .parallel()
              .mapToLong(task -> passed(hash, new SplittableRandom(seed + task), each))
              .sum();
    }
    double rate = (double) passed / tasks / each;
    System.out.println(kind.name() + ", " + bits + " bits: " + passed + " false positives");
    assertThat(rate * (1 << bits)).isCloseTo(1, within(0.05));
  }

  /** How many of so many random keys have a slot. */
  private static long passed(HashFunction hash, SplittableRandom random, int asked) {
    long passed = 0;
    try {
      for (int i = 0; i < asked; i++) {
        if (hash.slot(random.nextLong(), random.nextLong()) != HashFunction.ABSENT) {
          passed++;
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return passed;
  }

  @Test
  void anAbsentKeyNearlyLikeAPresentOneIsToldFromIt() throws Exception {
    Entries entries = entries(5000);
    Built built = build(entries, 32, 1 << 20, 2, DuplicatePolicy.ERROR);
    try (HashFunction hash = built.open()) {
      for (int i = 0; i < entries.count(); i++) {
        assertThat(hash.slot(entries.high[i], entries.low[i] ^ 1L << random.nextInt(32)))
            .isEqualTo(HashFunction.ABSENT);
      }
    }
  }

  @Sampled(2)
  @Test
  void bytesDependNeitherOnMemoryNorOnThreads() throws Exception {
    Entries entries =
        entries(900_000); // 3 buckets a partition, so that a partition may be split among passes
    Built expected = build(entries, 5, 1 << 30, 1, DuplicatePolicy.ERROR);
    assertThat(expected.buckets).isEqualTo(kind == HashKind.GOV ? 3 * 1024 : 32);
    long[][] memoryAndThreads = {
      {1 << 30, 4}, {1 << 20, 1}, {1 << 20, 3}, {60_000, 2}, {20_000, 4}, {1, 1}
    };
    for (long[] each : Rounds.some(List.of(memoryAndThreads), 2, random)) {
      Built built = build(entries, 5, each[0], (int) each[1], DuplicatePolicy.ERROR);
      assertThat(built.hash).as(Arrays.toString(each)).hasSameBinaryContentAs(expected.hash);
      assertThat(built.index).as(Arrays.toString(each)).hasSameBinaryContentAs(expected.index);
    }
    assertThat(build(entries, 5, 1 << 20, 2, DuplicatePolicy.FIRST).index)
        .as("counted")
        .hasSameBinaryContentAs(expected.index);
  }

  @Test
  void bytesDoNotDependOnTheOrderOfTheRecords() throws Exception {
    Entries entries = entries(30_000);
    Entries reversed = entries(30_000);
    for (int i = 0; i < 30_000; i++) {
      reversed.high[i] = entries.high[29_999 - i];
      reversed.low[i] = entries.low[29_999 - i];
      reversed.addresses[i] = entries.addresses[29_999 - i];
    }
    Built one = build(entries, 4, 1 << 20, 2, DuplicatePolicy.ERROR);
    Built other = build(reversed, 4, 1 << 20, 2, DuplicatePolicy.ERROR);
    assertThat(other.hash).hasSameBinaryContentAs(one.hash);
    assertThat(other.index).hasSameBinaryContentAs(one.index);
  }

  /**
   * Three keys a bucket at once: with 300 such groups, one set of ten has no solution; with 100,
   * none of 20,000.
   */
  @Test
  void signaturesThatShareTheirFirstHalfAreToldApart() throws Exception {
    Entries entries = entries(3000);
    for (int i = 0; i < 50; i++) {
      int of = 60 * i;
      for (int j = 1; j < 4; j++) {
        entries.high[of + j] = entries.high[of] + (j == 3 ? 1 : 0);
      }
    }
    Built built = build(entries, 32, 1 << 20, 1, DuplicatePolicy.ERROR);
    try (HashFunction hash = built.open();
        CheckedPages pages = built.openIndex()) {
      AddressIndex index = new AddressIndex(pages);
      Extent extent = new Extent();
      for (int i = 0; i < entries.count(); i++) {
        long slot = hash.slot(entries.high[i], entries.low[i]);
        assertThat(address(index, slot, extent)).isEqualTo(entries.addresses[i]);
      }
    }
  }

  @Test
  void duplicatesAreFoundInEveryPass() throws Exception {
    Entries entries = entries(900_000);
    for (long memory : new long[] {1 << 30, 20_000}) {
      for (int round = 0; round < Rounds.of(1); round++) {
        int one = random.nextInt(900_000);
        int other = (one + 1 + random.nextInt(899_999)) % 900_000;
        long high = entries.high[other];
        long low = entries.low[other];
        entries.high[other] = entries.high[one];
        entries.low[other] = entries.low[one];
        assertThatThrownBy(() -> build(entries, 4, memory, 2, DuplicatePolicy.ERROR))
            .isInstanceOfSatisfying(
                DuplicateSignatureException.class,
                e ->
                    assertThat(new long[] {e.first(), e.second()})
                        .containsExactlyInAnyOrder(
                            entries.addresses[one], entries.addresses[other]));
        entries.high[other] = high;
        entries.low[other] = low;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"FIRST", "LAST"})
  void oneOfTheDuplicatesStays(DuplicatePolicy kept) throws Exception {
    Entries entries = entries(40_000);
    for (int i = 0; i < 20_000; i++) {
      entries.high[i] = entries.high[20_000 + i % 5000];
      entries.low[i] = entries.low[20_000 + i % 5000];
    }
    Built built = build(entries, 16, 1 << 20, 2, kept);
    assertThat(built.keys).isEqualTo(20_000);
    try (HashFunction hash = built.open();
        CheckedPages pages = built.openIndex()) {
      AddressIndex index = new AddressIndex(pages);
      Extent extent = new Extent();
      for (int i = 20_000; i < 40_000; i++) {
        int copy = kept == DuplicatePolicy.FIRST && i < 25_000 ? i - 20_000 : i;
        assertThat(address(index, hash.slot(entries.high[i], entries.low[i]), extent))
            .isEqualTo(entries.addresses[copy]);
      }
    }
  }

  @Test
  void aCancelledStageEnds() throws Exception {
    try (SignatureSpill spill = new SignatureSpill(directory.resolve("spill"), Long.BYTES);
        OutputFile hash = new OutputFile(directory, HashFunction.identity(), ChunkBuffer.huge());
        OutputFile index = new OutputFile(directory, AddressIndex.identity(), ChunkBuffer.huge())) {
      for (int i = 0; i < 500_000; i++) {
        spill.add(random.nextLong(), random.nextLong(), i);
      }
      spill.seal();
      long[] done = new long[1];
      HashConstruction construction =
          kind.construct(spill.total(), 4, SignatureSpill.PARTITIONS, 0);
      IndexStage stage =
          new IndexStage(
              spill, construction, 1 << 20, 2, DuplicatePolicy.ERROR, () -> done[0] > 100_000);
      assertThatThrownBy(
              () ->
                  stage.write(
                      construction.writer(hash.pages(), 500_000),
                      new SlotWriter(index.pages(), 8),
                      8,
                      more -> done[0] += more))
          .isInstanceOf(CancellationException.class);
      assertThat(done[0]).isLessThan(500_000);
    }
  }

  private static long address(AddressIndex index, long slot, Extent extent) throws IOException {
    index.locate(slot, extent);
    extent.read();
    return index.address(slot, extent);
  }
}
