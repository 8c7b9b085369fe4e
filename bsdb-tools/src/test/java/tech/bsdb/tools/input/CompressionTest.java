package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CompressionTest {
  @TempDir Path directory;

  @Test
  void theLastSuffixTells() {
    assertThat(Compression.of("a.txt.gz")).isEqualTo(Compression.GZIP);
    assertThat(Compression.of("a.GZ")).isEqualTo(Compression.GZIP);
    assertThat(Compression.of("a.csv.zst")).isEqualTo(Compression.ZSTD);
    assertThat(Compression.of("a.zstd")).isEqualTo(Compression.ZSTD);
    assertThat(Compression.of("a.gz.txt")).isEqualTo(Compression.NONE);
    assertThat(Compression.of("gz")).isEqualTo(Compression.NONE);
  }

  @Test
  void readsAllFramesWhateverPiecesTheSourceGives() throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    Random random = new Random(1);
    for (int frame = 0; frame < 40; frame++) {
      byte[] bytes = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(5000)];
      random.nextBytes(bytes);
      plain.write(bytes);
      all.write(frame % 2 == 0 ? Zstd.compress(bytes) : streamed(bytes));
      if (frame == 20) {
        all.write(new byte[] {0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3}); // a frame to skip
      }
    }
    for (int piece : new int[] {1, 2, 3, 7, 4096, 1 << 20}) {
      assertThat(unzstd(GzipMembersTest.inPieces(all.toByteArray(), piece)))
          .isEqualTo(plain.toByteArray());
    }
  }

  @Test
  void everyTruncationIsAnErrorExceptAfterAFrame() throws IOException {
    byte[] first =
        streamed("some text that is long enough to be compressed, compressed".getBytes(US_ASCII));
    byte[] both = GzipMembersTest.concat(first, Zstd.compress("more".getBytes(US_ASCII)));
    for (int length = 0; length < both.length; length++) {
      byte[] cut = Arrays.copyOf(both, length);
      if (length == 0 || length == first.length) {
        assertThat(unzstd(new ByteArrayInputStream(cut))).hasSize(length == 0 ? 0 : 58);
      } else {
        assertThatThrownBy(() -> unzstd(new ByteArrayInputStream(cut)))
            .as("%d bytes", length)
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void whatFollowsAFrameMustBeAFrame() throws IOException {
    byte[] garbage =
        GzipMembersTest.concat(
            Zstd.compress("text".getBytes(US_ASCII)), "garbage".getBytes(US_ASCII));
    assertThatThrownBy(() -> unzstd(new ByteArrayInputStream(garbage)))
        .isInstanceOf(IOException.class);
  }

  @Test
  void everyTruncatedFileIsAnErrorThatNamesIt() throws IOException {
    byte[] text = "key1 value1\nkey2 value2\nkey3 value3\n".getBytes(US_ASCII);
    byte[] gzip = GzipMembersTest.gzip(text);
    byte[] zstd = streamed(text);
    for (int length = 1; length < gzip.length; length++) {
      Path file = Readings.file(directory, "a.txt.gz", Arrays.copyOf(gzip, length));
      Readings read = Readings.read(Readings.of(file));
      assertThat(read.failure()).isInstanceOf(InputException.class);
      assertThat(read.message()).startsWith(file + ": truncated");
    }
    for (int length = 1; length < zstd.length; length++) {
      Path file = Readings.file(directory, "a.txt.zst", Arrays.copyOf(zstd, length));
      Readings read = Readings.read(Readings.of(file));
      assertThat(read.failure()).isInstanceOf(InputException.class);
      assertThat(read.message()).startsWith(file + ": ");
    }
  }

  @Test
  void anEmptyFileHasNoRecords() throws IOException {
    for (String name : new String[] {"a.gz", "a.zst"}) {
      Readings read = Readings.read(Readings.of(Readings.file(directory, name, "")));
      assertThat(read.failure()).isNull();
      assertThat(read.records()).isEmpty();
    }
  }

  @Test
  void aFileThatIsNotZstandardIsCalledThat() throws IOException {
    for (String text : new String[] {"k", "key value\n"}) {
      Path file = Readings.file(directory, "a.zst", text);
      assertThat(Readings.read(Readings.of(file)).message())
          .isEqualTo(file + ": not in Zstandard format");
    }
  }

  @Test
  void readsCompressedFilesAsPlainOnes() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 5000; i++) {
      text.append("key").append(i).append(" value").append(i).append(i % 3 == 0 ? "\r\n" : "\n");
    }
    byte[] plain = text.toString().getBytes(US_ASCII);
    int middle = plain.length / 2 + 3;
    byte[] head = Arrays.copyOf(plain, middle);
    byte[] tail = Arrays.copyOfRange(plain, middle, plain.length);
    Readings expected = Readings.read(Readings.of(Readings.file(directory, "p.txt", plain)), 1000);
    assertThat(expected.records()).hasSize(5000);
    Path gz =
        Readings.file(
            directory,
            "p.txt.gz",
            GzipMembersTest.concat(GzipMembersTest.gzip(head), GzipMembersTest.gzip(tail)));
    Path zst =
        Readings.file(
            directory,
            "p.txt.zst",
            GzipMembersTest.concat(Zstd.compress(head), Zstd.compress(tail)));
    for (Path file : new Path[] {gz, zst}) {
      Readings read = Readings.read(Readings.of(file), 1000);
      assertThat(read.records()).isEqualTo(expected.records());
      assertThat(read.lines()).isEqualTo(expected.lines());
    }
  }

  @Test
  void readsFramesWithWindowsThatAToolWouldAskAnOptionFor() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZstdOutputStream zstd = new ZstdOutputStream(bytes).setLong(28)) {
      zstd.write("text".getBytes(US_ASCII));
      zstd.flush(); // the frame cannot tell its length, so it names the window
    }
    assertThat(unzstd(new ByteArrayInputStream(bytes.toByteArray())))
        .isEqualTo("text".getBytes(US_ASCII));
  }

  private static byte[] streamed(byte[] plain) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZstdOutputStream zstd = new ZstdOutputStream(bytes).setChecksum(true)) {
      zstd.write(plain);
    }
    return bytes.toByteArray();
  }

  private static byte[] unzstd(InputStream compressed) throws IOException {
    try (InputStream in = Compression.ZSTD.decompress(compressed)) {
      return in.readAllBytes();
    }
  }
}
