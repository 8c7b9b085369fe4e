package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Test;

final class GzipMembersTest {

  @Test
  void readsAllMembersForAnyReadSizes() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    Random random = new Random(1);
    for (int member = 0; member < 50; member++) {
      byte[] bytes = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(5000)];
      random.nextBytes(bytes);
      plain.write(bytes);
      all.write(gzip(bytes));
    }
    for (int piece : new int[] {1, 2, 3, 7, 4096, 1 << 20}) {
      // As a pipe does: nothing is ever available(), which makes the JDK's stream stop after a
      // member.
      assertThat(read(inPieces(all.toByteArray(), piece))).isEqualTo(plain.toByteArray());
    }
  }

  @Test
  void onlyZerosMayPadTheEnd() throws IOException {
    byte[] member = gzip("text".getBytes(US_ASCII));
    assertThat(read(concat(member, new byte[1]))).hasSize(4);
    assertThat(read(concat(member, new byte[200_000]))).hasSize(4);
    byte[] garbage = new byte[200_000];
    garbage[garbage.length - 1] = 1;
    assertThatThrownBy(() -> read(concat(member, garbage))).hasMessageContaining("garbage");
    assertThatThrownBy(() -> read(new byte[10])).hasMessageContaining("not in gzip format");
  }

  @Test
  void everyTruncationIsAnErrorExceptAfterAMember() throws IOException {
    byte[] first =
        gzip(
            "some text that is long enough to be compressed, compressed, compressed"
                .getBytes(US_ASCII));
    byte[] second = gzip("more".getBytes(US_ASCII));
    byte[] both = concat(first, second);
    for (int length = 0; length < both.length; length++) {
      byte[] cut = Arrays.copyOf(both, length);
      if (length == first.length) {
        assertThat(read(cut)).hasSize(70);
      } else {
        assertThatThrownBy(() -> read(cut))
            .as("%d bytes", length)
            .isInstanceOf(EOFException.class)
            .hasMessageContaining("truncated");
      }
    }
  }

  @Test
  void everyFlippedBitIsAnErrorOrInAnIgnoredField() throws IOException {
    byte[] plain =
        "the quick brown fox jumps over the lazy dog, the quick brown fox".getBytes(US_ASCII);
    byte[] good = gzip(plain);
    for (int bit = 0; bit < good.length * 8; bit++) {
      byte[] damaged = good.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      try {
        assertThat(read(damaged)).isEqualTo(plain);
        // the text flag, the time, the extra flags, the system
        assertThat(bit / 8).isBetween(3, 9);
      } catch (IOException expected) {
        assertThat(expected).isInstanceOfAny(ZipException.class, EOFException.class);
      }
    }
  }

  @Test
  void onlyAMemberMayFollowAMember() throws IOException {
    byte[] member = gzip("text".getBytes(US_ASCII));
    for (String garbage : new String[] {"x", "garbage", "\0x"}) {
      assertThatThrownBy(() -> read(concat(member, garbage.getBytes(US_ASCII))))
          .isInstanceOf(ZipException.class)
          .hasMessageContaining("garbage after the end");
    }
    assertThatThrownBy(() -> read("no gzip".getBytes(US_ASCII)))
        .isInstanceOf(ZipException.class)
        .hasMessage("not in gzip format");
  }

  @Test
  void readsAHeaderWithEveryField() throws IOException {
    byte[] plain = gzip("text".getBytes(US_ASCII));
    ByteArrayOutputStream header = new ByteArrayOutputStream();
    header.write(new byte[] {0x1F, (byte) 0x8B, 8, 2 | 4 | 8 | 16, 1, 2, 3, 4, 0, 3});
    header.write(new byte[] {3, 0, 'a', 'b', 'c'}); // extra
    header.write("name\0comment\0".getBytes(US_ASCII));
    CRC32 checksum = new CRC32();
    checksum.update(header.toByteArray());
    header.write((int) checksum.getValue());
    header.write((int) checksum.getValue() >> 8);
    byte[] whole = concat(header.toByteArray(), Arrays.copyOfRange(plain, 10, plain.length));
    assertThat(read(whole)).isEqualTo("text".getBytes(US_ASCII));
    whole[11]++;
    try {
      read(whole);
      fail("an extra field of 259 bytes");
    } catch (EOFException | ZipException expected) {
      assertThat(expected).isNotNull();
    }
    whole[11]--;
    whole[13]++;
    assertThatThrownBy(() -> read(whole)).hasMessageContaining("checksum of a header");
  }

  static byte[] gzip(byte[] plain) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write(plain);
    }
    return bytes.toByteArray();
  }

  static byte[] concat(byte[]... parts) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.write(part);
    }
    return all.toByteArray();
  }

  private static byte[] read(byte[] compressed) throws IOException {
    return read(new ByteArrayInputStream(compressed));
  }

  private static byte[] read(InputStream compressed) throws IOException {
    try (InputStream in = new GzipMembers(compressed)) {
      return in.readAllBytes();
    }
  }

  /** Returns the bytes in limited pieces, with none available before they are read. */
  static InputStream inPieces(byte[] bytes, int piece) {
    return new FilterInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      public int read(byte[] to, int from, int length) throws IOException {
        return super.read(to, from, Math.min(piece, length));
      }

      @Override
      public int available() {
        return 0;
      }
    };
  }
}
