package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;
import tech.bsdb.error.CorruptDatabaseException;

/** A page's checksum covers its every bit and its place. */
class PageTest {
  private static final FileIdentity DATA_3 = new FileIdentity(FileKind.DATA, 3);

  private final byte[] page = new byte[Page.SIZE];
  private final PageCheck check = new PageCheck(Path.of("x", "data"), DATA_3);

  PageTest() {
    Seeds.random("PageTest").nextBytes(page);
    Page.seal(page, 0, DATA_3, 77);
  }

  private void verify(long number) throws CorruptDatabaseException {
    check.check(ByteBuffer.wrap(page).order(ByteOrder.LITTLE_ENDIAN), 0, number);
  }

  @Test
  void aSealedPageIsSound() throws Exception {
    verify(77);
  }

  @Test
  void everyFlippedBitIsFound() {
    for (int bit = 0; bit < Page.SIZE * 8; bit++) {
      page[bit >>> 3] ^= (byte) (1 << (bit & 7));
      assertThatThrownBy(() -> verify(77))
          .isInstanceOfSatisfying(
              CorruptDatabaseException.class,
              e -> {
                assertThat(e.file()).isEqualTo(Path.of("x", "data"));
                assertThat(e.offset()).isEqualTo(77L << 12);
                assertThat(e)
                    .hasMessageContaining("x/data")
                    .hasMessageContaining(String.valueOf(77L << 12));
              });
      page[bit >>> 3] ^= (byte) (1 << (bit & 7));
    }
  }

  @Test
  void anotherPlaceGivesAnotherChecksum() {
    Set<Integer> seen = new HashSet<>();
    int places = 0;
    for (FileKind kind : FileKind.values()) {
      for (int file = 0; file < 128; file += 9) {
        for (long number : new long[] {0, 1, 2, 3, 1023, 1024, 1L << 20, (1L << 36) - 1}) {
          seen.add(Page.checksum(page, 0, Page.PAYLOAD, new FileIdentity(kind, file), number));
          places++;
        }
      }
    }
    assertThat(seen).hasSize(places);
  }

  @Test
  void aPageOfZerosIsNotSound() {
    java.util.Arrays.fill(page, (byte) 0);
    for (long number = 0; number < 100_000; number++) {
      int stored = Page.checksum(page, 0, Page.PAYLOAD, DATA_3, number);
      assertThat(stored).as("page %s", number).isNotZero();
    }
  }

  @Test
  void buffersOfBothOrdersAndKindsAreChecked() throws Exception {
    ByteBuffer direct = ByteBuffer.allocateDirect(3 * Page.SIZE);
    direct.put(Page.SIZE, page);
    check.check(direct.order(ByteOrder.BIG_ENDIAN), Page.SIZE, 77);
    check.check(direct.order(ByteOrder.LITTLE_ENDIAN), Page.SIZE, 77);
    check.check(ByteBuffer.wrap(page), 0, 77);
    assertThat(direct.position()).isZero();
    SplittableRandom random = new SplittableRandom(1);
    int at = Page.SIZE + random.nextInt(Page.SIZE);
    direct.put(at, (byte) ~direct.get(at));
    assertThatThrownBy(() -> check.check(direct, Page.SIZE, 77))
        .isInstanceOf(CorruptDatabaseException.class);
  }
}
