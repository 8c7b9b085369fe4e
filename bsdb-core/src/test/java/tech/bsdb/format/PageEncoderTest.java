package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tech.bsdb.Seeds;

/**
 * Payload goes to sealed pages, and the encoder says at any time where the next byte will stand.
 */
class PageEncoderTest {
  private static final FileIdentity FILE = new FileIdentity(FileKind.DATA, 0);

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final PageEncoder encoder = new PageEncoder(written::write, FILE);

  @Test
  void payloadStandsWhereTheEncoderSaid() throws Exception {
    SplittableRandom random = Seeds.random("PageEncoderTest");
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    for (int i = 0; i < 400; i++) {
      byte[] bytes = new byte[random.nextInt(random.nextInt(5) == 0 ? 20_000 : 300)];
      random.nextBytes(bytes);
      int inPage = (int) encoder.position() & Page.SIZE - 1;
      assertThat(encoder.room()).isEqualTo(Page.PAYLOAD - inPage).isPositive();
      assertThat(encoder.position() >>> Page.SHIFT).isEqualTo(1 + payload.size() / Page.PAYLOAD);
      assertThat(inPage).isEqualTo(payload.size() % Page.PAYLOAD);
      encoder.put(bytes, 0, bytes.length);
      payload.write(bytes);
    }
    encoder.pad();
    byte[] found = payload();
    assertThat(found).startsWith(payload.toByteArray());
    for (int i = payload.size(); i < found.length; i++) {
      assertThat(found[i]).as("padding").isZero();
    }
  }

  /**
   * The payload of all pages; fails if a checksum, the digest or the count of pages is not right.
   */
  private byte[] payload() throws Exception {
    byte[] pages = written.toByteArray();
    assertThat(pages.length % Page.SIZE).isZero();
    assertThat(encoder.pages()).isEqualTo(1 + pages.length / Page.SIZE);
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    PageCheck check = new PageCheck(Path.of("x"), FILE);
    long digest = 0;
    for (int i = 0; i < pages.length / Page.SIZE; i++) {
      ByteBuffer buffer = ByteBuffer.wrap(pages).order(ByteOrder.LITTLE_ENDIAN);
      digest = PageEncoder.fold(digest, check.check(buffer, i * Page.SIZE, 1 + i));
      payload.write(pages, i * Page.SIZE, Page.PAYLOAD);
    }
    assertThat(encoder.digest()).isEqualTo(digest);
    return payload.toByteArray();
  }

  @Test
  void aFullPageIsWrittenAtOnceAndPaddingItChangesNothing() throws Exception {
    encoder.put(new byte[Page.PAYLOAD], 0, Page.PAYLOAD);
    assertThat(written.size()).isEqualTo(Page.SIZE);
    assertThat(encoder.position()).isEqualTo(2L << Page.SHIFT);
    encoder.pad();
    encoder.pad();
    assertThat(written.size()).isEqualTo(Page.SIZE);
    assertThat(encoder.room()).isEqualTo(Page.PAYLOAD);
  }

  @Test
  void paddingLeavesNothingOfThePageBefore() throws Exception {
    byte[] ones = new byte[Page.PAYLOAD];
    java.util.Arrays.fill(ones, (byte) 1);
    encoder.put(ones, 0, ones.length);
    encoder.put(ones, 0, 1);
    encoder.pad();
    assertThat(java.util.Arrays.copyOfRange(payload(), Page.PAYLOAD + 1, 2 * Page.PAYLOAD))
        .containsOnly(0);
  }

  @Test
  void theDigestDependsOnTheOrderOfThePages() {
    long once = PageEncoder.fold(PageEncoder.fold(0, 17), 18);
    assertThat(PageEncoder.fold(PageEncoder.fold(0, 18), 17)).isNotEqualTo(once);
    assertThat(PageEncoder.fold(PageEncoder.fold(0, 0), 17)).isNotEqualTo(once);
  }

  @Test
  void unsealedPagesCannotStartWithinAPage() throws Exception {
    encoder.put(new byte[1], 0, 1);
    assertThatThrownBy(() -> encoder.putUnsealed(new byte[Page.SIZE], 0))
        .isInstanceOf(IllegalStateException.class);
  }
}
