package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/** Header and footer: what was written is read, and nothing else is taken for it. */
class FileFrameTest {
  private static final Path PATH = Path.of("db", "data-002-x.bsdb");
  private static final FileIdentity FILE = new FileIdentity(FileKind.DATA, 2);
  private static final DatabaseId ID = DatabaseId.derive("a".getBytes(StandardCharsets.UTF_8));
  private static final long PAGES = 5;
  private static final long LENGTH = PAGES * Page.SIZE;

  private final FileFrame frame = new FileFrame(FILE, ID, PAGES, 0x123456789abcdefL);
  private final byte[] header = frame.header();
  private final byte[] footer = frame.footer();

  @Test
  void whatWasWrittenIsRead() throws Exception {
    assertThat(FileFrame.decode(PATH, FILE, header, footer, LENGTH)).isEqualTo(frame);
  }

  @Test
  void fieldsStandWhereTheFormatSays() {
    ByteBuffer first = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(new String(header, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("BSDBFILE");
    assertThat(first.getShort(8)).isEqualTo((short) 1);
    assertThat(first.getShort(10)).isEqualTo((short) 4);
    assertThat(first.getInt(12)).isEqualTo(2);
    assertThat(DatabaseId.read(header, 16)).isEqualTo(ID);
    ByteBuffer last = ByteBuffer.wrap(footer).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(new String(footer, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("BSDBTAIL");
    assertThat(last.getLong(32)).isEqualTo(PAGES);
    assertThat(last.getLong(40)).isEqualTo(0x123456789abcdefL);
  }

  @Test
  void everyFlippedBitIsFound() {
    for (byte[] page : new byte[][] {header, footer}) {
      for (int bit = 0; bit < Page.SIZE * 8; bit++) {
        page[bit >>> 3] ^= (byte) (1 << (bit & 7));
        assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, header, footer, LENGTH))
            .as("bit %s", bit)
            .isInstanceOfSatisfying(
                CorruptDatabaseException.class, e -> assertThat(e.file()).isEqualTo(PATH));
        page[bit >>> 3] ^= (byte) (1 << (bit & 7));
      }
    }
  }

  @Test
  void bytesBehindTheLastPageAreRefused() {
    assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, header, footer, LENGTH + 1))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("a length of " + LENGTH + " bytes");
  }

  @Test
  void anotherFileIsRefused() {
    for (FileIdentity other :
        new FileIdentity[] {
          new FileIdentity(FileKind.INDEX, 2), new FileIdentity(FileKind.DATA, 3)
        }) {
      FileFrame wrong = new FileFrame(other, ID, PAGES, 1);
      assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, wrong.header(), wrong.footer(), LENGTH))
          .isInstanceOf(CorruptDatabaseException.class);
    }
  }

  @Test
  void aFooterOfAnotherDatabaseIsRefused() {
    DatabaseId other = DatabaseId.derive("b".getBytes(StandardCharsets.UTF_8));
    byte[] strange = new FileFrame(FILE, other, PAGES, 1).footer();
    assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, header, strange, LENGTH))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(ID.toString())
        .hasMessageContaining(other.toString());
  }

  @Test
  void anotherLengthIsRefused() {
    for (long pages : new long[] {3, 4, 6, 1L << 40}) {
      assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, header, footer, pages * Page.SIZE))
          .isInstanceOf(CorruptDatabaseException.class);
    }
  }

  @Test
  void anIntactFileOfANewerVersionIsUnsupportedNotDamaged() {
    byte[] newer = header.clone();
    ByteBuffer.wrap(newer).order(ByteOrder.LITTLE_ENDIAN).putShort(8, (short) 2);
    Page.seal(newer, 0, FILE, 0);
    assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, newer, footer, LENGTH))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(PATH.toString())
        .hasMessageContaining("version 2")
        .hasMessageContaining("version 1");
  }

  @Test
  void aFileOfSomethingElseIsSaidToBeNone() {
    byte[] text = new byte[Page.SIZE];
    assertThatThrownBy(() -> FileFrame.decode(PATH, FILE, text, text, LENGTH))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("BSDBFILE");
  }
}
