package tech.bsdb.tools.input;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LongLinesTest {
  private static final String TOO_LONG = Defect.LINE_TOO_LONG.label();

  @TempDir Path directory;

  @Test
  void aLineLongerThanManyChunksIsOneRecord() throws IOException {
    String value = "v".repeat(300_000);
    Path file = Readings.file(directory, "a", "a 1\nb " + value + "\nc 3\n\nd " + value);
    Readings read = Readings.read(Readings.skipping(file), 10);
    assertThat(read.records()).containsExactly("a→1", "b→" + value, "c→3", "d→" + value);
    assertThat(read.lines()).containsExactly(1L, 2L, 3L, 5L);
  }

  @Test
  void anOverlongLineIsSkipped() throws IOException {
    int longest = 1000;
    String fits = "v".repeat(longest - 3);
    for (int more : new int[] {0, 1, 2, 3, 64_000, 1_000_000}) {
      String text = "a 1\nb " + fits + "x".repeat(more) + "\nc 3\n\nd 4";
      Path file = Readings.file(directory, "a", text);
      for (int chunk : new int[] {1, 10, 999, 1000}) {
        Readings read = Readings.read(Readings.skipping(file), chunk, longest);
        assertThat(read.records().size())
            .as("%d more, chunks of %d", more, chunk)
            .isEqualTo(more <= 1 ? 4 : 3);
        assertThat(read.records()).endsWith("c→3", "d→4");
        assertThat(read.lines()).endsWith(3L, 5L);
        assertThat(read.report().lines()).isEqualTo(5);
      }
    }
  }

  @Test
  void anOverlongLineIsABadLine() throws IOException {
    Path file = Readings.file(directory, "a", "a 1\nb " + "v".repeat(100_000) + "\nc 3");
    Readings read = Readings.read(Readings.of(file), 10, 1000);
    assertThat(read.message()).startsWith(file + ":2: line longer than");
    Path rejects = directory.resolve("rejects");
    read = Readings.read(Readings.skipping(file).withRejects(rejects), 10, 80_000);
    assertThat(read.report().rejectedByReason()).isEqualTo(Map.of(TOO_LONG, 1L));
    assertThat(Files.readString(rejects))
        .startsWith(file + ":2: line longer than")
        .endsWith(": b " + "v".repeat((1 << 16) - 2) + "\n");
  }

  @Test
  void anOverlongLastLineIsABadLine() throws IOException {
    Path file = Readings.file(directory, "a", "a 1\nb " + "v".repeat(100_000));
    Readings read = Readings.read(Readings.skipping(file), 10, 1000);
    assertThat(read.records()).containsExactly("a→1");
    assertThat(read.report().lines()).isEqualTo(2);
    assertThat(read.report().rejectedByReason()).isEqualTo(Map.of(TOO_LONG, 1L));
  }

  @Test
  void anOverlongCsvRecordIsSkippedWithItsLines() throws IOException {
    String field = "line\n".repeat(5000);
    Path file = Readings.file(directory, "a", "k,v\na,1\nb,\"" + field + "\"\nc,3\nd,\"" + field);
    InputOptions options =
        Readings.skipping(file)
            .withFormat(new Format.Csv(null, List.of(), Format.Csv.Values.JSON, ','));
    Readings read = Readings.read(options, 10, 1000);
    assertThat(read.records()).containsExactly("a→1", "c→3");
    assertThat(read.lines()).containsExactly(2L, 5004L);
    assertThat(read.report().lines()).isEqualTo(10_004);
    assertThat(read.report().rejectedByReason()).isEqualTo(Map.of(TOO_LONG, 2L));
  }

  @Test
  @Tag("long")
  void aLineOfMoreThan2GiBIsSkipped() throws IOException {
    Path file = directory.resolve("huge");
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write("a 1\nb ".getBytes(StandardCharsets.US_ASCII));
      byte[] piece = new byte[1 << 20];
      Arrays.fill(piece, (byte) 'v');
      for (int i = 0; i < 2048; i++) {
        out.write(piece);
      }
      out.write("\nc 3\n".getBytes(StandardCharsets.US_ASCII));
    }
    Readings read = Readings.read(Readings.skipping(file));
    if (Runtime.getRuntime().maxMemory() < 5L << 30) {
      assertThat(read.message()).startsWith(file + ":2: line too long for the heap");
    } else {
      assertThat(read.records()).containsExactly("a→1", "c→3");
      assertThat(read.report().rejectedByReason()).isEqualTo(Map.of(TOO_LONG, 1L));
    }
  }
}
