package tech.bsdb.write;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.DuplicatePolicy;
import tech.bsdb.Rounds;
import tech.bsdb.Seeds;
import tech.bsdb.index.BinIndex;

/** Entries in the order of their signatures, against a list that is sorted. */
class SignatureRunTest {
  /** A signature, and the bytes that make an entry of it different. */
  private record Entry(long high, long low, String bytes) {
    boolean hasSignatureOf(Entry other) {
      return high == other.high && low == other.low;
    }
  }

  private static final Comparator<Entry> BY_SIGNATURE =
      ((Comparator<Entry>) (a, b) -> Long.compareUnsigned(a.high, b.high))
          .thenComparing((a, b) -> Long.compareUnsigned(a.low, b.low));

  private final SplittableRandom random = Seeds.random("SignatureRunTest");

  /** Entries of which many share a signature, or a half of it. */
  private List<Entry> entries(int count, long halves) {
    long step = random.nextLong() | 1;
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long high = random.nextLong(halves) * step;
      entries.add(new Entry(high, random.nextLong(3) - 1, "x".repeat(random.nextInt(9)) + i));
    }
    return entries;
  }

  /** Loads a range of bins, with memory for so many entries at first. */
  private static void load(
      SignatureRun run, List<Entry> entries, long bins, long from, long to, int expected)
      throws IOException {
    run.begin(bins, new Passes.Range(0, 0, 1024, from, to, 0, 1), expected, 8L * expected);
    for (Entry entry : entries) {
      byte[] bytes = ("before" + entry.bytes + "behind").getBytes(ISO_8859_1);
      run.add(entry.high, entry.low, bytes, 6, entry.bytes.length());
    }
    run.sort();
  }

  private static List<List<Entry>> bins(SignatureRun run) {
    List<List<Entry>> bins = new ArrayList<>();
    for (int bin = 0; bin < run.bins(); bin++) {
      List<Entry> in = new ArrayList<>();
      for (int i = run.start(bin); i < run.start(bin + 1); i++) {
        int start = run.recordStart(i);
        in.add(
            new Entry(
                run.high(i),
                run.low(i),
                new String(run.bytes(), start, run.recordEnd(i) - start, ISO_8859_1)));
      }
      bins.add(in);
    }
    return bins;
  }

  /** The entries of each bin, of which one with each signature is kept. */
  private static List<List<Entry>> expected(
      List<Entry> entries, long bins, long from, long to, DuplicatePolicy kept) {
    List<List<Entry>> expected = new ArrayList<>();
    for (long bin = from; bin < to; bin++) {
      Map<List<Long>, Entry> in = new LinkedHashMap<>();
      for (Entry entry : entries) {
        if (BinIndex.bin(entry.high, bins) == bin) {
          in.merge(
              List.of(entry.high, entry.low),
              entry,
              (a, b) -> kept == DuplicatePolicy.LAST ? b : a);
        }
      }
      List<Entry> sorted = new ArrayList<>(in.values());
      sorted.sort(BY_SIGNATURE);
      expected.add(sorted);
    }
    return expected;
  }

  @ParameterizedTest
  @EnumSource(names = {"FIRST", "LAST"})
  void oneEntryOfEachSignatureStaysInEveryRange(DuplicatePolicy kept) throws Exception {
    SignatureRun run = new SignatureRun(kept);
    for (int round = 0; round < Rounds.of(20); round++) {
      List<Entry> entries = entries(random.nextInt(4000), 1 + random.nextInt(2000));
      long bins = 1 + random.nextLong(1 + random.nextInt(3000));
      long from = random.nextLong(bins);
      long to = from + 1 + random.nextLong(bins - from);
      load(run, entries, bins, from, to, random.nextInt(entries.size() + 1));
      assertThat(bins(run)).isEqualTo(expected(entries, bins, from, to, kept));
      assertThat(run.records()).isEqualTo(run.start(run.bins()));
      assertThat(run.refused()).isNull();
    }
  }

  /** Which duplicates are named depends on the signatures only, not on the memory. */
  @Test
  void theFirstDuplicatesAreRefused() throws Exception {
    SignatureRun run = new SignatureRun(DuplicatePolicy.ERROR);
    for (int round = 0; round < Rounds.of(20); round++) {
      List<Entry> entries = entries(2000, 1 + random.nextInt(2000));
      load(run, entries, 100, 0, 100, random.nextInt(2001));
      List<Entry> sorted = new ArrayList<>(entries);
      sorted.sort(BY_SIGNATURE);
      int first = 0;
      while (!sorted.get(first).hasSignatureOf(sorted.get(first + 1))) {
        first++;
      }
      SignatureRun.Refused refused = run.refused();
      assertThat(refused).isNotNull();
      assertThat(
              List.of(
                  new String(refused.first(), ISO_8859_1),
                  new String(refused.second(), ISO_8859_1)))
          .containsExactly(sorted.get(first).bytes, sorted.get(first + 1).bytes);
    }
  }

  @Test
  void aRangeWithoutDuplicatesIsRefusedNothing() throws Exception {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      entries.add(new Entry(i % 1000 * 0x123456789ABCDEFL, i, "x" + i));
    }
    Collections.shuffle(entries, new Random(random.nextLong()));
    SignatureRun run = new SignatureRun(DuplicatePolicy.ERROR);
    for (int expected : new int[] {10, 3000}) {
      load(run, entries, 7, 0, 7, expected);
      assertThat(run.refused()).isNull();
      assertThat(bins(run)).isEqualTo(expected(entries, 7, 0, 7, DuplicatePolicy.ERROR));
      assertThat(run.hasGrown()).isEqualTo(expected < 3000);
    }
  }

  /** Partitions differ by chance. */
  @Test
  void memoryForOneRangeIsEnoughForThoseLikeIt() {
    SignatureRun run = new SignatureRun(DuplicatePolicy.ERROR);
    Passes.Range range = new Passes.Range(0, 0, 1024, 0, 64, 0, 1);
    run.begin(64, range, 10_000, 200_000);
    byte[] bytes = run.bytes();
    run.begin(64, range, 10_300, 206_000); // three standard deviations more
    assertThat(run.bytes()).isSameAs(bytes);
  }
}
