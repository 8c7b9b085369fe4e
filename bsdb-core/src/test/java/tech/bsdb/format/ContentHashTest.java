package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content hashes are those of FORMAT.md §8, also after pages were taken back. */
class ContentHashTest {
  private static final int MIB = 1 << 20;

  /** The file's bytes, header and footer included, and the hash as the format describes it. */
  private static byte[] file(int contentPages) {
    byte[] file = new byte[(contentPages + 2) * Page.SIZE];
    new Random(contentPages).nextBytes(file);
    return file;
  }

  private static String expected(byte[] file) throws Exception {
    MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
    int end = file.length - Page.SIZE;
    ByteArrayOutputStream pieces = new ByteArrayOutputStream();
    for (int from = Page.SIZE; from < end; from = (from / MIB + 1) * MIB) {
      int to = Math.min((from / MIB + 1) * MIB, end);
      pieces.writeBytes(sha256.digest(Arrays.copyOfRange(file, from, to)));
    }
    return HexFormat.of().formatHex(sha256.digest(pieces.toByteArray()));
  }

  private static void add(ContentHash hash, byte[] file, long from) {
    for (int page = (int) from; page < file.length / Page.SIZE - 1; page++) {
      hash.add(file, page * Page.SIZE);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 254, 255, 256, 257, 511, 512, 700})
  void itIsThatOfItsPieces(int pages) throws Exception {
    byte[] file = file(pages);
    ContentHash hash = new ContentHash();
    add(hash, file, 1);
    assertThat(hash.finish()).isEqualTo(expected(file)).isEqualTo(hash.finish());
    for (int page : new int[] {pages, Math.max(1, pages / 2), 1}) {
      long next = hash.backTo(page);
      assertThat(next).isBetween(Math.max(1L, page - 255L), (long) Math.max(1, page));
      add(hash, file, next);
      assertThat(hash.finish()).as("after page " + page).isEqualTo(expected(file));
    }
  }

  @Test
  void aFileWithoutContentHasTheHashOfNothing() {
    assertThat(new ContentHash().finish())
        .isEqualTo("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  }

  @Test
  void pagesAreTakenBackBeforeTheLastOne() throws Exception {
    byte[] file = file(600);
    ContentHash hash = new ContentHash();
    for (int page = 1; page < 530; page++) {
      hash.add(file, page * Page.SIZE);
    }
    assertThat(hash.backTo(513)).isEqualTo(512);
    assertThat(hash.backTo(300)).isEqualTo(256);
    add(hash, file, 256);
    assertThat(hash.finish()).isEqualTo(expected(file));
  }
}
