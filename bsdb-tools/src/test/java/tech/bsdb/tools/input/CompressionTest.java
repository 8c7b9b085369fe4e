package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Rounds;

final class CompressionTest {
  private static final Format CSV =
      new Format.Csv("k0", List.of(), Format.Csv.Values.DELIMITED, ' ');

  @TempDir Path directory;

  @Test
  void theLastSuffixDecides() {
    assertThat(Compression.of("a.txt.gz")).isEqualTo(Compression.GZIP);
    assertThat(Compression.of("a.GZ")).isEqualTo(Compression.GZIP);
    assertThat(Compression.of("a.csv.zst")).isEqualTo(Compression.ZSTD);
    assertThat(Compression.of("a.zstd")).isEqualTo(Compression.ZSTD);
    assertThat(Compression.of("a.gz.txt")).isEqualTo(Compression.NONE);
    assertThat(Compression.of("gz")).isEqualTo(Compression.NONE);
  }

  /** Someone may type lines, and wait for an answer to each. */
  @Test
  void noMoreIsReadThanTellsThatThereIsNoCompression() throws IOException {
    for (String line : List.of("k\n", "BZh\n", "PK\n", "7\n", "(\n", "")) {
      byte[] bytes = line.getBytes(US_ASCII);
      InputStream typed = new SequenceInputStream(new ByteArrayInputStream(bytes), unread());
      InputStream plain =
          line.isEmpty()
              ? Compression.decompressByMagic(new ByteArrayInputStream(bytes))
              : Compression.decompressByMagic(typed);
      assertThat(plain.readNBytes(bytes.length)).isEqualTo(bytes);
    }
    byte[] text = "keys\n".getBytes(US_ASCII);
    for (byte[] packed : List.of(streamed(text), GzipMembersTest.gzip(text))) {
      assertThat(Compression.decompressByMagic(GzipMembersTest.inPieces(packed, 1)).readAllBytes())
          .isEqualTo(text);
    }
  }

  @SuppressWarnings("InputStreamSlowMultibyteRead") // it only throws
  private static InputStream unread() {
    return new InputStream() {
      @Override
      public int read() {
        throw new AssertionError("read further");
      }
    };
  }

  @Test
  void readsAllFramesForAnyReadSizes() throws IOException {
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
      if (length == first.length) {
        assertThat(unzstd(new ByteArrayInputStream(cut))).hasSize(58);
      } else {
        assertThatThrownBy(() -> unzstd(new ByteArrayInputStream(cut)))
            .as("%d bytes", length)
            .isInstanceOf(IOException.class);
      }
    }
  }

  @Test
  void onlyAFrameMayFollowAFrame() throws IOException {
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

  /** Damage first shows as bad lines, before a checksum reveals it. */
  @Test
  void damagedFilesAreErrorsNotBadLines() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      text.append("k").append(i).append(" v").append(i * 7919).append('\n');
    }
    byte[] plain = text.toString().getBytes(US_ASCII);
    int asLines = 0;
    for (String name : new String[] {"a.txt.gz", "a.txt.zst"}) {
      byte[] whole = name.endsWith("gz") ? GzipMembersTest.gzip(plain) : streamed(plain);
      for (int at = 0; at < whole.length; at += Rounds.everything() ? 1 : 3) {
        byte[] damaged = whole.clone();
        damaged[at] ^= 0x15;
        for (Format format : List.of(new Format.Text(" "), CSV)) {
          Path file = Readings.file(directory, name, damaged);
          Readings read = Readings.read(Readings.of(file).withFormat(format), 64);
          if (read.failure() != null) {
            assertThat(read.failure())
                .as("%s, byte %d", name, at)
                .isInstanceOf(InputException.class)
                .isNotInstanceOf(BadInputException.class);
            assertThat(read.message()).startsWith(file + ": ").doesNotContain("no column");
            asLines += read.failure().getSuppressed().length;
          } else {
            file = Readings.file(directory, name, whole);
            assertThat(read.records())
                .as("%s, byte %d", name, at)
                .isEqualTo(Readings.read(Readings.of(file).withFormat(format)).records());
          }
        }
      }
    }
    assertThat(asLines).as("failures that looked like bad lines").isPositive();
  }

  @Test
  void aBadLineOfAnIntactCompressedFileIsABadLine() throws IOException {
    byte[] plain = "a 1\nbad\nb 2\n".getBytes(US_ASCII);
    for (Path file :
        List.of(
            Readings.file(directory, "a.gz", GzipMembersTest.gzip(plain)),
            Readings.file(directory, "a.zst", streamed(plain)))) {
      Readings read = Readings.read(Readings.of(file));
      assertThat(read.failure()).isInstanceOf(BadInputException.class);
      assertThat(read.message()).startsWith(file + ":2: ");
    }
  }

  @Test
  void compressedDataIsReadUnderAnyName() throws IOException {
    String text = "key1 value1\nkey2 value2\n";
    for (byte[] stored :
        new byte[][] {
          GzipMembersTest.gzip(text.getBytes(US_ASCII)), Zstd.compress(text.getBytes(US_ASCII))
        }) {
      Path file = Files.write(directory.resolve("part-00000"), stored);
      Readings read = Readings.read(Readings.of(file));
      assertThat(read.failure()).isNull();
      assertThat(read.records()).hasSize(2);
    }
  }

  @Test
  void otherFormatsAreNamed() throws IOException {
    for (String[] each :
        new String[][] {
          {"BZh91AY&SY..", "bzip2"},
          {"\u00fd7zXZ\0..", "xz"},
          {"PK\u0003\u0004..", "zip"},
          {"\u0004\"M\u0018..", "LZ4"},
          {"\u00ff\u0006\0\0sNaPpY", "Snappy"}
        }) {
      Path file = Files.write(directory.resolve("odd"), each[0].getBytes(ISO_8859_1));
      assertThatThrownBy(() -> Compression.of(file))
          .hasMessageContaining("format of " + each[1])
          .hasMessageContaining("decompress it first");
    }
    Path text = Files.writeString(directory.resolve("text"), "BZh9 PK 7z");
    assertThat(Compression.of(text)).isEqualTo(Compression.NONE);
  }

  @Test
  void aFileOfNoBytesIsTruncated() throws IOException {
    for (String name : new String[] {"a.gz", "a.zst"}) {
      Path file = Readings.file(directory, name, "");
      assertThat(Readings.read(Readings.of(file)).message()).startsWith(file + ": truncated: ");
    }
  }

  @Test
  void aFileThatIsNotZstandardIsReported() throws IOException {
    for (String text : new String[] {"k", "key value\n"}) {
      Path file = Readings.file(directory, "a.zst", text);
      assertThat(Readings.read(Readings.of(file)).message())
          .isEqualTo(file + ": not in Zstandard format");
    }
  }

  @Test
  void readsCompressedFilesLikePlainOnes() throws IOException {
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
  void readsFramesWithLongWindows() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZstdOutputStream zstd = new ZstdOutputStream(bytes).setLong(28)) {
      zstd.write("text".getBytes(US_ASCII));
      zstd.flush(); // the frame does not know its length, so it states the window
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
