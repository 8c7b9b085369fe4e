package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Layout;
import tech.bsdb.Seeds;

/**
 * An address gives back what was packed and is never negative, so that none looks like "absent".
 */
class RecordAddressTest {
  private static final int LAST_FILE = 127;

  @ParameterizedTest
  @ValueSource(ints = {8, 9, 12, 13, 16, 20})
  void partsComeBack(int detailBits) {
    SplittableRandom random = Seeds.random("RecordAddressTest " + detailBits);
    RecordAddress addresses = new RecordAddress(detailBits);
    int lastDetail = (1 << detailBits) - 1;
    for (int i = 0; i < 10_000; i++) {
      check(
          addresses,
          random.nextInt(LAST_FILE + 1),
          random.nextLong(addresses.maxPosition() + 1),
          random.nextInt(lastDetail + 1));
    }
    for (int file : new int[] {0, 1, 63, 64, LAST_FILE}) {
      for (long position :
          new long[] {0, 4096, addresses.maxPosition() - 1, addresses.maxPosition()}) {
        for (int detail : new int[] {0, 1, lastDetail}) {
          check(addresses, file, position, detail);
        }
      }
    }
  }

  private static void check(RecordAddress addresses, int file, long position, int detail) {
    long address = addresses.pack(file, position, detail);
    assertThat(address).isNotNegative();
    assertThat(RecordAddress.file(address)).isEqualTo(file);
    assertThat(addresses.position(address)).isEqualTo(position);
    assertThat(addresses.detail(address)).isEqualTo(detail);
  }

  @Test
  void theHighestAddressOfAllIsNotNegative() {
    RecordAddress addresses = new RecordAddress(8);
    assertThat(addresses.pack(LAST_FILE, addresses.maxPosition(), Long.MAX_VALUE))
        .isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void spansBeyondTheDetailAreCutToItsMost() {
    RecordAddress addresses = new RecordAddress(8);
    assertThat(addresses.detail(addresses.pack(3, 4096, 255))).isEqualTo(255);
    assertThat(addresses.detail(addresses.pack(3, 4096, 256))).isEqualTo(255);
    assertThat(addresses.detail(addresses.pack(3, 4096, 600_000))).isEqualTo(255);
    assertThat(addresses.position(addresses.pack(3, 4096, 600_000))).isEqualTo(4096);
  }

  @Test
  void partsOutOfRangeAreRefused() {
    RecordAddress addresses = new RecordAddress(8);
    assertThatThrownBy(() -> addresses.pack(128, 0, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> addresses.pack(-1, 0, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> addresses.pack(0, addresses.maxPosition() + 1, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> addresses.pack(0, -1, 0))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void everyOffsetInABlockOfAnySizeFits() {
    for (int blockSize = 512;
        blockSize <= 1 << 20;
        blockSize = blockSize < 1000 ? blockSize + 1 : blockSize * 2 - 1) {
      RecordAddress addresses = RecordAddress.of(Layout.COMPRESSED, blockSize);
      long address = addresses.pack(0, 4096, blockSize - 1);
      assertThat(addresses.detail(address)).isEqualTo(blockSize - 1);
      assertThat(addresses.maxPosition())
          .as("one file holds at least 64 GiB")
          .isGreaterThanOrEqualTo((1L << 36) - 1);
    }
    assertThat(RecordAddress.of(Layout.COMPRESSED, 1 << 20).detail((1 << 20) - 1))
        .isEqualTo((1 << 20) - 1);
    assertThat(RecordAddress.of(Layout.BLOCKED, 1 << 20).maxPosition()).isEqualTo((1L << 48) - 1);
  }

  @Test
  void addressesAreOrderedAsStripesAreWritten() {
    RecordAddress addresses = new RecordAddress(8);
    long stripe = RecordAddress.STRIPE;
    long[] written = {
      addresses.pack(0, 4096, 3),
      addresses.pack(0, 4200, 0),
      addresses.pack(0, stripe - 1, 9),
      addresses.pack(1, 4096, 0),
      addresses.pack(2, stripe - 5, 0),
      addresses.pack(0, stripe, 0),
      addresses.pack(0, stripe + 8, 0),
      addresses.pack(2, stripe, 0),
      addresses.pack(1, 2 * stripe + 1, 0),
      addresses.pack(127, addresses.maxPosition(), 0),
    };
    for (int i = 0; i < written.length; i++) {
      for (int j = 0; j < written.length; j++) {
        assertThat(Integer.signum(addresses.compare(written[i], written[j])))
            .isEqualTo(Integer.compare(i, j));
      }
    }
  }
}
