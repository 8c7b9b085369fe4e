package tech.bsdb.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.PagesFile;
import tech.bsdb.Seeds;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.io.BufferedEngine;
import tech.bsdb.io.CheckedPages;

/** The index of bins gives the places that counting from the first page gives. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BinIndexTest {
  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("BinIndexTest");

  /** Numbers of bins that start in the pages, page by page. */
  private static final class Shape {
    private int[] starting = new int[16];
    private int pages;

    Shape add(int count, int... each) {
      for (int i = 0; i < count; i++) {
        for (int bins : each) {
          if (pages == starting.length) {
            starting = Arrays.copyOf(starting, 2 * pages);
          }
          starting[pages++] = bins;
        }
      }
      return this;
    }

    long bins() {
      return Arrays.stream(starting).asLongStream().sum();
    }

    BinIndex build(boolean spanning) {
      BinIndex.Builder builder = new BinIndex.Builder(bins(), spanning);
      for (int i = 0; i < pages; i++) {
        builder.add(starting[i]);
      }
      assertThat(builder.pages()).isEqualTo(pages);
      return builder.build();
    }

    /** Compares the places of all bins with those that a walk over the pages gives. */
    void check(BinIndex index, boolean spanning) {
      assertThat(index.bins()).isEqualTo(bins());
      assertThat(index.pages()).isEqualTo(pages);
      long bin = 0;
      for (int page = 0; page < pages; page++) {
        for (int slot = 0; slot < starting[page]; slot++) {
          int expected = slot + 1 < starting[page] ? 1 : pagesOfLast(page, spanning);
          long place = index.placeOf(bin);
          if (BinIndex.firstPage(place) != page
              || BinIndex.slot(place) != slot
              || BinIndex.pages(place) != expected) {
            throw new AssertionError(
                "bin %d of %d, spanning %s: page %d, slot %d, %d pages, not page %d, slot %d, %d pages"
                    .formatted(
                        bin,
                        bins(),
                        spanning,
                        BinIndex.firstPage(place),
                        BinIndex.slot(place),
                        BinIndex.pages(place),
                        page,
                        slot,
                        expected));
          }
          bin++;
        }
      }
    }

    /** The pages that the last bin that starts in a page may cover. */
    private int pagesOfLast(int page, boolean spanning) {
      int next = page + 1;
      while (next < pages && starting[next] == 0) {
        next++;
      }
      int end = spanning && next < pages ? next + 1 : next;
      return Math.min(end - page, BinIndex.MOST_PAGES);
    }
  }

  private BinIndex reread(BinIndex index, boolean spanning) throws IOException {
    PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
    index.write(file.pages());
    file.close();
    return read(file, index.bins(), index.pages(), spanning, true);
  }

  private static BinIndex read(
      PagesFile file, long bins, long pages, boolean spanning, boolean verify) throws IOException {
    try (CheckedPages opened = file.open(new BufferedEngine(), verify)) {
      return BinIndex.read(opened, file.check(), bins, pages, spanning);
    }
  }

  private void check(Shape shape) throws IOException {
    for (boolean spanning : new boolean[] {false, true}) {
      BinIndex index = shape.build(spanning);
      shape.check(index, spanning);
      shape.check(reread(index, spanning), spanning);
    }
  }

  @Test
  void oneBin() throws Exception {
    for (int pages : new int[] {1, 2, 3, 8, 9, 10, 63, 64, 65, 66, 67, 5000}) {
      check(new Shape().add(1, 1).add(pages - 1, 0));
    }
  }

  @Test
  void aBinOfMorePagesThanAPlaceCanState() {
    for (int pages : new int[] {BinIndex.MOST_PAGES - 1, BinIndex.MOST_PAGES, 1_100_000}) {
      Shape shape = new Shape().add(1, 3).add(pages - 1, 0).add(1, 2);
      shape.check(shape.build(false), false);
      shape.check(shape.build(true), true);
    }
  }

  @Test
  void allBinsInOnePage() throws Exception {
    for (int bins : new int[] {1, 2, 127, 128, 129, 254, 255, 256}) {
      check(new Shape().add(1, bins));
      check(new Shape().add(1, bins).add(100, 0));
    }
  }

  @Test
  void onlyFullPages() throws Exception {
    for (int pages : new int[] {1, 2, 3, 200}) {
      check(new Shape().add(pages, 256));
      check(new Shape().add(1, 1).add(pages, 256));
      check(new Shape().add(1, 255).add(pages, 256).add(1, 1));
      check(new Shape().add(pages, 256, 0));
      check(new Shape().add(pages, 256, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }
  }

  @Test
  void groupsOfEveryNumberOfPages() throws Exception {
    // 256 bins on so many pages: one step of 8, several steps, and a search.
    for (int pages = 1; pages <= 256; pages = pages < 20 || pages > 60 ? pages + 1 : pages + 5) {
      Shape shape = new Shape();
      for (int group = 0; group < 3; group++) {
        for (int i = 0; i < pages; i++) {
          shape.add(1, 256 * (i + 1) / pages - 256 * i / pages);
        }
      }
      check(shape);
    }
  }

  @Test
  void numbersOfBinsAroundMultiplesOfAGroup() throws Exception {
    for (int bins : new int[] {255, 256, 257, 511, 512, 513, 767, 768, 769, 261_888, 262_144}) {
      for (int each : new int[] {1, 3, 85, 170, 256}) {
        Shape shape = new Shape().add(bins / each, each);
        check(bins % each == 0 ? shape : shape.add(1, bins % each));
      }
    }
  }

  @Test
  void randomShapes() throws Exception {
    for (int round = 0; round < 300; round++) {
      Shape shape = new Shape().add(1, 1 + random.nextInt(256));
      int runs = 1 + random.nextInt(12);
      for (int run = 0; run < runs; run++) {
        addRun(shape);
      }
      check(shape);
    }
  }

  private void addRun(Shape shape) {
    switch (random.nextInt(7)) {
      case 0 -> shape.add(1 + random.nextInt(12), 0);
      case 1 -> shape.add(50 + random.nextInt(30), 0);
      case 2 -> shape.add(1 + random.nextInt(5000), 0);
      case 3 -> shape.add(1 + random.nextInt(5), 256);
      case 4 -> addRandom(shape, 3);
      case 5 -> addRandom(shape, 257);
      default -> shape.add(1 + random.nextInt(300), 1);
    }
  }

  private void addRandom(Shape shape, int bound) {
    int pages = 1 + random.nextInt(200);
    for (int i = 0; i < pages; i++) {
      shape.add(1, random.nextInt(bound));
    }
  }

  @Test
  void aSignatureLeadsToTheBinOfItsShare() {
    for (long bins : new long[] {1, 2, 3, 255, 256, 1_000_003, (1L << 40) - 1, 1L << 40}) {
      assertThat(BinIndex.bin(0, bins)).isZero();
      assertThat(BinIndex.bin(-1, bins)).isEqualTo(bins - 1);
      for (int i = 0; i < 1000; i++) {
        long high = random.nextLong();
        BigInteger even = new BigInteger(Long.toUnsignedString(high & ~1L));
        assertThat(BinIndex.bin(high, bins))
            .isEqualTo(even.multiply(BigInteger.valueOf(bins)).shiftRight(64).longValueExact());
      }
    }
  }

  @Test
  void aPlaceOfASignatureIsThatOfItsBin() {
    BinIndex index = new Shape().add(100, 3, 0, 7, 256, 1).build(true);
    for (int i = 0; i < 1000; i++) {
      long high = random.nextLong();
      long place = index.place(high, i);
      long bin = index.placeOf(BinIndex.bin(high, index.bins()));
      assertThat(BinIndex.firstPage(place)).isEqualTo(BinIndex.firstPage(bin));
      assertThat(BinIndex.slot(place)).isEqualTo(BinIndex.slot(bin));
      assertThat(BinIndex.pages(place)).isEqualTo(BinIndex.pages(bin));
      assertThat(BinIndex.detail(place)).isEqualTo(i & 3);
      long inPart = index.placeInPart(high);
      assertThat(inPart & -256).isEqualTo(bin);
      assertThat(BinIndex.detail(inPart)).isEqualTo(BinIndex.part(high, index.bins()));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 1})
  void moreOrFewerBinsThanStatedAreRefused(int difference) {
    BinIndex.Builder builder = new BinIndex.Builder(10 + difference, false);
    builder.add(10);
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("10 of " + (10 + difference) + " bins start in the pages");
  }

  @Test
  void filesOfAnotherLengthAreRefused() throws Exception {
    BinIndex index = new Shape().add(5000, 40).build(false);
    PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
    index.write(file.pages());
    file.close();
    assertThat(file.bytes()).hasSize((int) BinIndex.filePages(200_000, 5000) * Page.SIZE);
    long[][] binsAndPages = {
      {200_000, 0}, {200_000, -1}, {200_000, 52}, {200_000, 5053}, {200_000, Integer.MAX_VALUE},
      {200_000, 1L << 40}, {1 << 20, 5000}, {1L << 39, 5000}, {1L << 39, 1L << 40}, {1, 1}
    };
    for (long[] each : binsAndPages) {
      assertThatThrownBy(() -> read(file, each[0], each[1], false, true))
          .as(Arrays.toString(each))
          .isInstanceOf(CorruptDatabaseException.class)
          .hasMessageContaining(directory.toString());
    }
  }

  @Test
  void anotherNumberOfPagesIsRefusedEvenIfTheFileHasTheSameLength() throws Exception {
    BinIndex index = new Shape().add(1000, 40).build(false);
    PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
    index.write(file.pages());
    file.close();
    for (long pages : new long[] {500, 999, 1001, 2000}) {
      assertThatThrownBy(() -> read(file, index.bins(), pages, false, true))
          .as(pages + " pages")
          .isInstanceOf(CorruptDatabaseException.class);
    }
  }

  @Test
  void zerosAreNoIndexEvenIfNothingIsVerified() throws Exception {
    BinIndex index = new Shape().add(1000, 40).build(false);
    PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
    index.write(file.pages());
    file.close().replace(new byte[file.bytes().length]);
    assertThatThrownBy(() -> read(file, index.bins(), index.pages(), false, false))
        .isInstanceOf(CorruptDatabaseException.class);
  }

  @Test
  void everyDamagedPageIsRefused() throws Exception {
    BinIndex index = new Shape().add(3000, 40).build(true);
    PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
    index.write(file.pages());
    byte[] intact = file.close().bytes();
    for (int i = 0; i < 200; i++) {
      byte[] damaged = intact.clone();
      int at = Page.SIZE + random.nextInt(intact.length - 2 * Page.SIZE);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      file.replace(damaged);
      assertThatThrownBy(() -> read(file, index.bins(), 3000, true, true))
          .as("byte " + at)
          .isInstanceOf(CorruptDatabaseException.class);
    }
  }

  /** Even a file that was forged, or is not verified, leads to no place outside the pages. */
  @Test
  void forgedFilesAreRefusedOrLeadToPagesThatExist() throws Exception {
    List<Shape> shapes = new ArrayList<>();
    shapes.add(new Shape().add(1, 1));
    shapes.add(new Shape().add(300, 40));
    shapes.add(new Shape().add(20, 256).add(300, 0).add(20, 2, 0, 5));
    for (Shape shape : shapes) {
      for (boolean spanning : new boolean[] {false, true}) {
        BinIndex index = shape.build(spanning);
        PagesFile file = new PagesFile(directory.resolve("index"), BinIndex.identity());
        index.write(file.pages());
        byte[] intact = file.close().bytes();
        for (int i = 0; i < 100; i++) {
          byte[] forged = forged(intact, i, index);
          file.seal(forged, 1);
          file.replace(forged);
          checkPlaces(file, index, spanning);
        }
      }
    }
  }

  private byte[] forged(byte[] intact, int round, BinIndex index) {
    byte[] forged = intact.clone();
    int used = (int) (4 * ((index.bins() + 255) / 256 + 1) + index.pages());
    if (round == 0) {
      Arrays.fill(forged, Page.SIZE, Page.SIZE + used, (byte) 0);
    } else if (round == 1) {
      Arrays.fill(forged, Page.SIZE, Page.SIZE + used, (byte) -1);
    } else {
      for (int i = random.nextInt(8); i >= 0; i--) {
        int change = random.nextInt(4) == 0 ? random.nextInt() : 1 << random.nextInt(8);
        forged[Page.SIZE + random.nextInt(Math.min(used, Page.PAYLOAD))] ^= (byte) change;
      }
    }
    return forged;
  }

  private static void checkPlaces(PagesFile file, BinIndex index, boolean spanning)
      throws IOException {
    BinIndex read;
    try {
      read = read(file, index.bins(), index.pages(), spanning, true);
    } catch (CorruptDatabaseException expected) {
      return;
    }
    for (long bin = 0; bin < index.bins(); bin++) {
      long place = read.placeOf(bin);
      if (BinIndex.firstPage(place) >= index.pages()
          || BinIndex.slot(place) > 255
          || BinIndex.firstPage(place) + BinIndex.pages(place) > index.pages()) {
        throw new AssertionError("bin " + bin + " has the place " + Long.toHexString(place));
      }
    }
  }
}
