package tech.bsdb.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.PagesFile;
import tech.bsdb.Sampled;
import tech.bsdb.Seeds;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Page;
import tech.bsdb.io.LoadedEngine;
import tech.bsdb.io.ShownFile;

/** A filter answers as a search among the quotients and remainders of all records does. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SignatureFilterTest {
  private static final int REMAINDER_SHIFT = 16;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("SignatureFilterTest");

  private record Signed(long high, long low) {}

  private static final Comparator<Signed> ORDER =
      Comparator.comparing(Signed::high, Long::compareUnsigned)
          .thenComparing(Signed::low, Long::compareUnsigned);

  private List<Signed> signatures(int count) {
    List<Signed> signed = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      signed.add(new Signed(random.nextLong(), random.nextLong()));
    }
    return signed;
  }

  private PagesFile write(List<Signed> signed, Facts.Filter facts) throws IOException {
    signed.sort(ORDER);
    PagesFile file = new PagesFile(directory.resolve("filter"), FilterWriter.identity());
    FilterWriter writer = new FilterWriter(file.pages(), facts);
    for (Signed each : signed) {
      writer.add(each.high, each.low);
    }
    writer.finish();
    file.close();
    assertThat(Files.size(directory.resolve("filter")))
        .isEqualTo(FilterWriter.fileBytes(facts, signed.size()));
    return file;
  }

  private SignatureFilter read(PagesFile file, Facts.Filter facts, long records)
      throws IOException {
    Path path = directory.resolve("filter");
    long length = Files.size(path);
    long footer = length / Page.SIZE - 1;
    ShownFile loaded = new LoadedEngine().open(path, length);
    try {
      for (long page = 1; page < footer; page++) { // header and footer are empty here
        long at = page << Page.SHIFT;
        file.check().check(loaded.buffer(at), ShownFile.offset(at), page);
      }
      return SignatureFilter.of(loaded, file.check(), length / Page.SIZE, facts, records);
    } catch (IOException e) {
      loaded.close();
      throw e;
    }
  }

  /** What is kept of a signature. */
  private static long kept(Signed signed, Facts.Filter facts) {
    long remainder = signed.low >>> REMAINDER_SHIFT & (1L << facts.bits()) - 1;
    return BinIndex.bin(signed.high, facts.quotients()) << facts.bits() | remainder;
  }

  /** Compares answers for the signatures, for some that differ a little, and for random ones. */
  private void check(List<Signed> signed, Facts.Filter facts) throws IOException {
    PagesFile file = write(signed, facts);
    long[] all = signed.stream().mapToLong(each -> kept(each, facts)).sorted().toArray();
    List<Signed> asked = signatures(500);
    for (Signed each : signed) {
      asked.add(each);
      asked.add(new Signed(each.high, each.low ^ 1L << random.nextInt(Long.SIZE)));
      asked.add(new Signed(each.high ^ 1L << random.nextInt(Long.SIZE), each.low));
    }
    try (SignatureFilter filter = read(file, facts, signed.size())) {
      for (Signed each : asked) {
        boolean expected = Arrays.binarySearch(all, kept(each, facts)) >= 0;
        if (filter.mayHold(each.high, each.low) != expected) {
          throw new AssertionError(each + " of " + signed.size() + " with " + facts);
        }
      }
    }
  }

  @Test
  void randomSignatures() throws Exception {
    for (int bits = 1; bits <= 16; bits++) {
      for (int count : new int[] {0, 1, 2, 127, 128, 129, random.nextInt(5_001), 5_000}) {
        check(signatures(count), FilterWriter.facts(bits, count));
      }
    }
  }

  @Test
  void moreAndFewerQuotientsThanRecords() throws Exception {
    for (long quotients : new long[] {1, 2, 100, 128, 129, 1000, 99_999}) {
      int bits = 1 + random.nextInt(16);
      check(signatures(random.nextInt(3000)), new Facts.Filter(bits, quotients));
    }
  }

  @Sampled(3)
  @ParameterizedTest
  @ValueSource(ints = {1, 7, 16})
  void manyRecordsWithEqualHalves(int bits) throws Exception {
    List<Signed> signed = signatures(1_000);
    for (int run : new int[] {63, 64, 65, 200, 10_000}) {
      long high = random.nextLong();
      for (int i = 0; i < run; i++) {
        signed.add(new Signed(high, random.nextLong()));
      }
    }
    Signed same = new Signed(random.nextLong(), random.nextLong());
    for (int i = 0; i < 300; i++) {
      signed.add(same);
    }
    for (int i = 0; i < 100; i++) {
      signed.add(new Signed(0, i << REMAINDER_SHIFT));
      signed.add(new Signed(-1, (long) i << REMAINDER_SHIFT));
    }
    check(signed, FilterWriter.facts(bits, signed.size()));
  }

  @Test
  void hundredsOfThousandsInOneQuotient() throws Exception {
    List<Signed> signed = signatures(1_000);
    Signed last = new Signed(1L << 62, 0);
    for (int i = 0; i < 300_000; i++) {
      last = new Signed(1L << 62, (long) i << 33 | 0x1234L << REMAINDER_SHIFT);
      signed.add(last);
    }
    Facts.Filter facts = FilterWriter.facts(16, signed.size());
    PagesFile file = write(signed, facts);
    try (SignatureFilter filter = read(file, facts, signed.size())) {
      for (Signed each : signed.subList(0, 2_000)) {
        assertThat(filter.mayHold(each.high, each.low)).isTrue();
      }
      assertThat(filter.mayHold(last.high, last.low)).isTrue();
      assertThat(filter.mayHold(last.high, 0x1235L << REMAINDER_SHIFT)).isFalse();
      for (Signed each : signed.subList(signed.size() - 500, signed.size())) {
        assertThat(filter.mayHold(each.high, each.low)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8})
  void asManyAbsentKeysPassAsItSays(int bits) throws Exception {
    int count = 100_000;
    List<Signed> signed = signatures(count);
    Facts.Filter facts = FilterWriter.facts(bits, count);
    double expected = 1 - Math.exp(-Math.pow(0.5, bits));
    int asked = (int) (10_000 / expected); // a standard deviation of 1 %
    int passed = 0;
    try (SignatureFilter filter = read(write(signed, facts), facts, count)) {
      for (int i = 0; i < asked; i++) {
        passed += filter.mayHold(random.nextLong(), random.nextLong()) ? 1 : 0;
      }
    }
    assertThat((double) passed / asked).isCloseTo(expected, within(0.05 * expected));
  }

  @Test
  void aFilterOfAMillionTakesItsBitsAndTwoAndAQuarter() {
    for (int bits : new int[] {1, 8, 16}) {
      Facts.Filter facts = FilterWriter.facts(bits, 1_000_000);
      double each = 8.0 * FilterWriter.fileBytes(facts, 1_000_000) / 1e6;
      assertThat(each).isCloseTo(bits + 2.25, within(0.15));
    }
  }

  @Test
  void thereAreAsManyQuotientsAsRecordsWithinLimits() {
    assertThat(FilterWriter.facts(3, 0)).isEqualTo(new Facts.Filter(3, 1));
    assertThat(FilterWriter.facts(3, 77)).isEqualTo(new Facts.Filter(3, 77));
    assertThat(FilterWriter.facts(3, 1L << 40)).isEqualTo(new Facts.Filter(3, 1L << 37));
    long most = FilterWriter.fileBytes(FilterWriter.facts(16, 1L << 40), 1L << 40);
    assertThat(most).isGreaterThan((17L << 37) + (1L << 32));
  }

  @Test
  void signaturesOutOfOrderAreRefused() throws Exception {
    PagesFile file = new PagesFile(directory.resolve("filter"), FilterWriter.identity());
    FilterWriter writer = new FilterWriter(file.pages(), new Facts.Filter(8, 1_000));
    writer.add(-1, 0);
    assertThatThrownBy(() -> writer.add(0, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("group 0 of quotients after group 7");
  }

  @Test
  void theExampleOfTheFormatIsThis() throws Exception {
    long half = 1L << 63;
    List<Signed> signed =
        new ArrayList<>(
            List.of(
                new Signed(0x1000_0000_0000_0000L, 0x7 << 16),
                new Signed(half, 0x1 << 16),
                new Signed(half | 0x1000_0000_0000_0000L, 0xF5 << 16)));
    byte[] bytes = write(signed, new Facts.Filter(4, 3)).bytes();
    // 10 110 0..., then 7, 1, 5 from bit 131 on, and starts 0 and 3
    assertThat(bytes[Page.SIZE]).isEqualTo((byte) 0b01101);
    assertThat(Arrays.copyOfRange(bytes, Page.SIZE + 1, Page.SIZE + 16)).containsOnly(0);
    assertThat(bytes[Page.SIZE + 16]).isEqualTo((byte) (7 << 3 | 1 << 7));
    assertThat(bytes[Page.SIZE + 17]).isEqualTo((byte) (5 << 3));
    assertThat(Arrays.copyOfRange(bytes, 2 * Page.SIZE, 2 * Page.SIZE + 8))
        .containsExactly(0, 0, 0, 0, 3, 0, 0, 0);
  }

  @Test
  void filesOfAnotherShapeAreRefused() throws Exception {
    Facts.Filter facts = FilterWriter.facts(8, 5_000);
    List<Signed> signed = signatures(4_999);
    signed.add(new Signed(-1, 0)); // in the last group, which has few quotients
    PagesFile file = write(signed, facts);
    Object[][] wrong = {
      {new Facts.Filter(16, 5_000), 5_000L},
      {new Facts.Filter(8, 1L << 37), 5_000L},
      {new Facts.Filter(8, 5_000), 4_999L},
      {new Facts.Filter(8, 5_000), 5_001L},
      {new Facts.Filter(8, 5_000), 0L},
      {new Facts.Filter(8, 5_000), 1L << 40},
      {new Facts.Filter(8, 5_000 - 128), 5_000L}
    };
    for (Object[] each : wrong) {
      assertThatThrownBy(() -> read(file, (Facts.Filter) each[0], (long) each[1]))
          .as(Arrays.toString(each))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(directory.toString());
    }
  }

  @Test
  void everyDamagedPageIsRefused() throws Exception {
    Facts.Filter facts = FilterWriter.facts(11, 5_000);
    PagesFile file = write(signatures(5_000), facts);
    byte[] intact = file.bytes();
    for (int i = 0; i < 200; i++) {
      byte[] damaged = intact.clone();
      int at = Page.SIZE + random.nextInt(intact.length - 2 * Page.SIZE);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      file.replace(damaged);
      assertThatThrownBy(() -> read(file, facts, 5_000))
          .as("byte " + at)
          .isInstanceOf(CorruptDatabaseException.class);
    }
  }

  /** Even a filter that was forged gives an answer, or says that it is none. */
  @Test
  void forgedFilesAreRefusedOrAnswer() throws Exception {
    Facts.Filter facts = FilterWriter.facts(6, 2_000);
    List<Signed> signed = signatures(2_000);
    PagesFile file = write(signed, facts);
    byte[] intact = file.bytes();
    for (int round = 0; round < 100; round++) {
      byte[] forged = intact.clone();
      int page = 1 + random.nextInt(intact.length / Page.SIZE - 2);
      if (round < 2) {
        Arrays.fill(forged, Page.SIZE, Page.SIZE + Page.PAYLOAD, (byte) -round);
        page = 1;
      } else {
        for (int i = random.nextInt(8); i >= 0; i--) {
          forged[page * Page.SIZE + random.nextInt(Page.PAYLOAD)] = (byte) random.nextInt();
        }
      }
      file.seal(forged, page);
      file.replace(forged);
      try (SignatureFilter filter = read(file, facts, 2_000)) {
        for (Signed each : signed) {
          ask(filter, each);
        }
      } catch (CorruptDatabaseException expected) {
        assertThat(expected).hasMessageContaining("filter");
      }
    }
  }

  private static void ask(SignatureFilter filter, Signed signed) {
    try {
      filter.mayHold(signed.high, signed.low);
    } catch (CorruptDatabaseException expected) {
      assertThat(expected).hasMessageContaining("a zero for each of 128 quotients");
    }
  }
}
