package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.Seeds;

/** Short forms of addresses. */
class AddressBitsTest {
  @Test
  void aNumberTakesAsManyBitsAsItsLargest() {
    assertThat(AddressBits.of(0)).isZero();
    assertThat(AddressBits.of(1)).isEqualTo(1);
    assertThat(AddressBits.of(2)).isEqualTo(2);
    assertThat(AddressBits.of(255)).isEqualTo(8);
    assertThat(AddressBits.of(256)).isEqualTo(9);
    assertThat(AddressBits.of((1L << 48) - 1)).isEqualTo(48);
  }

  @Test
  void anAddressHasTheBitsOfItsParts() {
    assertThat(AddressBits.NONE.all()).isZero();
    assertThat(new AddressBits(1, 7, 1).all()).isEqualTo(9);
    assertThat(new AddressBits(7, 48, 8).all()).isEqualTo(63);
  }

  @ParameterizedTest
  @CsvSource({"-1,0,0", "0,-1,0", "0,0,-1", "8,0,0", "0,49,0", "0,0,21", "7,48,9", "0,48,16"})
  void otherWidthsAreRefused(int file, int offset, int detail) {
    assertThatThrownBy(() -> new AddressBits(file, offset, detail))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(file + ", " + offset + " and " + detail);
  }

  @Test
  void addressesComeBack() {
    SplittableRandom random = Seeds.random("AddressBitsTest");
    for (int round = 0; round < 20_000; round++) {
      int detailBits = 8 + random.nextInt(13);
      RecordAddress addresses = new RecordAddress(detailBits);
      int file = random.nextInt(random.nextBoolean() ? 1 : 128);
      long position = random.nextLong(1L << random.nextInt(57 - detailBits));
      long detail = random.nextLong(1L << random.nextInt(detailBits + 1));
      AddressBits least =
          new AddressBits(AddressBits.of(file), AddressBits.of(position), AddressBits.of(detail));
      AddressBits more =
          new AddressBits(7, Math.min(48, 56 - detailBits), Math.min(20, detailBits));
      long address = addresses.pack(file, position, detail);
      for (AddressBits bits : new AddressBits[] {least, more}) {
        long shortened = bits.shorten(address, addresses);
        assertThat(AddressBits.of(shortened)).isLessThanOrEqualTo(bits.all());
        assertThat(bits.address(shortened, addresses)).isEqualTo(address);
      }
    }
  }

  @Test
  void theLargestDetailComesBack() {
    RecordAddress addresses = new RecordAddress(8);
    long address = addresses.pack(127, addresses.maxPosition(), 1000); // means "that many or more"
    AddressBits bits = new AddressBits(7, 48, 8);
    assertThat(bits.address(bits.shorten(address, addresses), addresses)).isEqualTo(address);
  }
}
