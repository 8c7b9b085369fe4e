package tech.bsdb.tools.serve.resp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cursors come back as the places that they stand for, and are numbers that clients can keep. */
class ScanPlacesTest {
  private static final long BOUND = 1L << 53;
  private static final String ALL = "f".repeat(32);

  @ParameterizedTest
  @ValueSource(
      longs = {
        0,
        1,
        2,
        3,
        511,
        512,
        1023,
        1024,
        100_000,
        1 << 25,
        (1 << 25) + 511,
        1_000_000_000,
        1L << 32,
        (1L << 40) - 1,
        1L << 40,
        (1L << 44) - 1,
        1L << 50
      })
  void everyPlaceHasACursorOfItsOwnBelow2To53(long records) {
    Random random = new Random(records);
    for (String id : List.of("0".repeat(32), ALL, "0123456789abcdef0123456789abcdef")) {
      ScanPlaces places = ScanPlaces.of(id, records);
      for (int i = 0; i < 2000; i++) {
        int part = i < 2 ? (places.parts() - 1) * i : random.nextInt(places.parts());
        int offset = i < 4 ? places.mostOffset() * (i & 1) : random.nextInt(places.mostOffset());
        long cursor = Long.parseLong(places.cursor(part, offset));
        assertThat(cursor).isBetween(part + offset == 0 ? 0L : 1L, BOUND - 1);
        assertThat(places.owns(cursor)).isTrue();
        assertThat(places.part(cursor)).isEqualTo(part);
        assertThat(places.offset(cursor)).isEqualTo(offset);
        assertThat(places.ownsInKeyOrder(cursor)).isFalse();
      }
      assertThat(places.mostOffset()).isGreaterThanOrEqualTo((int) places.perPart());
      long numbered = Math.min(records, ScanPlaces.MOST_NUMBERED);
      for (int i = 0; i < 2000 && numbered > 0; i++) {
        long number = i < 2 ? (numbered - 1) * i : random.nextLong(numbered);
        long cursor = Long.parseLong(places.cursorBehind(number));
        assertThat(cursor).isBetween(1L, BOUND - 1);
        assertThat(places.ownsInKeyOrder(cursor)).isTrue();
        assertThat(places.keyNumber(cursor)).isEqualTo(number);
        assertThat(places.owns(cursor)).isFalse();
      }
    }
  }

  @Test
  void cursorsOfOtherVersionsAndNumbersAreRefused() {
    ScanPlaces places = ScanPlaces.of("0123456789abcdef".repeat(2), 1_000_000_000);
    Random random = new Random(5);
    int accepted = 0;
    for (int i = 0; i < 100_000; i++) {
      long cursor = i < 50_000 ? random.nextLong() : random.nextLong(BOUND);
      accepted += places.owns(cursor) || places.ownsInKeyOrder(cursor) ? 1 : 0;
    }
    assertThat(accepted).as("20 bits tell versions apart").isLessThan(5);
    long beyond = (Long.parseLong(places.cursor(0, 0)) | 1L << 53) + 1;
    assertThat(places.owns(beyond)).isFalse();
    assertThat(places.ownsInKeyOrder(Long.parseLong(places.cursorBehind(-1)))).isFalse();
    assertThat(places.ownsInKeyOrder(Long.parseLong(places.cursorBehind(999_999_999)))).isTrue();
    assertThat(places.ownsInKeyOrder(Long.parseLong(places.cursorBehind(1_000_000_000)))).isFalse();
  }
}
