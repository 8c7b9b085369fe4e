package tech.bsdb.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.format.Page;

/** The pages of an index hand out every slot, once, with its address. */
class AddressIndexTest {
  private static final int PER_PAGE = Page.PAYLOAD / AddressIndex.WIDTH;

  @ParameterizedTest
  @ValueSource(ints = {1, 2, PER_PAGE - 1, PER_PAGE, PER_PAGE + 1, 3 * PER_PAGE})
  void everySlotIsHandedOut(int slots) {
    int pages = (int) AddressIndex.pagesFor(slots, AddressIndex.WIDTH) - 2;
    List<Long> found = new ArrayList<>();
    for (int page = 1; page <= pages; page++) {
      ByteBuffer buffer = ByteBuffer.allocate(8 + Page.SIZE).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < PER_PAGE; i++) {
        buffer.putLong(8 + i * AddressIndex.WIDTH, 1000L + (page - 1L) * PER_PAGE + i);
      }
      AddressIndex.forEach(
          buffer,
          8,
          page,
          slots,
          (slot, address) -> {
            assertThat(slot).isEqualTo(found.size());
            found.add(address);
          });
    }
    assertThat(found).hasSize(slots);
    for (int i = 0; i < slots; i++) {
      assertThat(found.get(i)).isEqualTo(1000L + i);
    }
  }
}
