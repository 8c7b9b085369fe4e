package tech.bsdb.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/** The multiplication that finds a slot's page gives what a division gives. */
class SlotPagesTest {
  private static final long SLOTS = 1L << 40;

  private final SplittableRandom random = Seeds.random("SlotPagesTest");

  @Test
  void slotsLieWhereADivisionPutsThem() {
    for (int width = 1; width <= 256; width++) {
      SlotPages pages = new SlotPages(width);
      int perPage = 4092 / width;
      assertThat(pages.perPage()).isEqualTo(perPage);
      long lastPage = (SLOTS - 1) / perPage;
      for (int i = 0; i < 3000; i++) {
        long page = i < 500 ? i : i < 1000 ? lastPage - (i - 500) : random.nextLong(lastPage);
        check(pages, width, perPage, page * perPage);
        check(pages, width, perPage, page * perPage + perPage - 1);
        check(pages, width, perPage, random.nextLong(SLOTS));
      }
    }
  }

  private static void check(SlotPages pages, int width, int perPage, long slot) {
    long page = pages.page(slot);
    if (page != 1 + slot / perPage || pages.offset(slot, page) != slot % perPage * width) {
      throw new AssertionError("slot " + slot + " of width " + width + ": page " + page);
    }
  }

  @Test
  void pagesSufficeForTheirSlots() {
    for (int width = 1; width <= 256; width++) {
      SlotPages pages = new SlotPages(width);
      int perPage = pages.perPage();
      assertThat(pages.pages(0)).isZero();
      assertThat(pages.pages(1)).isOne();
      assertThat(pages.pages(perPage)).isOne();
      assertThat(pages.pages(perPage + 1L)).isEqualTo(2);
    }
  }
}
