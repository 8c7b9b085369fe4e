package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Rounds;
import tech.bsdb.tools.SeedInFailure;

/** Compares the parallel chunk parser with a naive one. */
@ExtendWith(SeedInFailure.class)
final class ParallelParseTest {
  private static final long SEED = SeedInFailure.SEED;

  @TempDir Path directory;

  @Test
  void agreesWithANaiveParserOnRandomBytesInEveryChunkSize() throws IOException {
    Random random = new Random(SEED);
    for (int round = 0; round < Rounds.of(60); round++) {
      String separator = new String[] {" ", "::", "→", "aab"}[random.nextInt(4)];
      byte[] bytes = randomBytes(random, separator);
      Path file = Readings.file(directory, "in", bytes);
      List<String> records = new ArrayList<>();
      List<Long> lines = new ArrayList<>();
      long allLines = naive(bytes, separator, records, lines);
      for (int chunk : new int[] {1, 2, 3, 1 + random.nextInt(20), 1 << 20}) {
        for (int threads : new int[] {1, 4}) {
          InputOptions options =
              Readings.skipping(file).withFormat(new Format.Text(separator)).withThreads(threads);
          Readings read = Readings.read(options, chunk);
          String where =
              "seed " + SEED + " round " + round + " chunk " + chunk + " threads " + threads;
          assertThat(read.failure()).as(where).isNull();
          assertThat(read.records()).as(where).isEqualTo(records);
          assertThat(read.lines()).as(where).isEqualTo(lines);
          assertThat(read.report().lines()).as(where).isEqualTo(allLines);
          assertThat(read.report().rejected()).as(where).isEqualTo(allLines - records.size());
          assertThat(read.report().bytes()).as(where).isEqualTo(bytes.length);
        }
      }
    }
  }

  @Test
  void aThousandFilesAreReadInOrder() throws IOException {
    List<String> files = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      StringBuilder text = new StringBuilder();
      for (int line = 0; line < i % 7; line++) {
        text.append(i).append('.').append(line).append(" v\n");
        expected.add(i + "." + line + "→v");
      }
      files.add(Readings.file(directory, "f" + i, text.toString()).toString());
    }
    for (int threads : new int[] {1, 4}) {
      Readings read =
          Readings.read(InputOptions.defaults().withInputs(files).withThreads(threads), 8);
      assertThat(read.records()).isEqualTo(expected);
    }
  }

  private static byte[] randomBytes(Random random, String separator) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    if (random.nextInt(3) == 0) {
      bytes.write("\uFEFF".getBytes(UTF_8));
    }
    for (int i = random.nextInt(60); i > 0; i--) {
      switch (random.nextInt(10)) {
        case 0, 1 -> bytes.write('\n');
        case 2 -> bytes.write("\r\n".getBytes(UTF_8));
        case 3 -> bytes.write('\r');
        case 4, 5 -> bytes.write(separator.getBytes(UTF_8));
        case 6 -> bytes.write(separator.getBytes(UTF_8)[0]);
        case 7 -> bytes.write("é→😀\uFEFF".getBytes(UTF_8));
        case 8 -> bytes.write(random.nextInt(8) == 0 ? random.nextInt(256) : 'a');
        default -> bytes.write("word".getBytes(UTF_8));
      }
    }
    return bytes.toByteArray();
  }

  /** Fills the lists; returns the number of lines. */
  private static long naive(
      byte[] bytes, String separator, List<String> records, List<Long> lines) {
    String all = new String(bytes, ISO_8859_1);
    String mark = new String("\uFEFF".getBytes(UTF_8), ISO_8859_1);
    String literal = new String(separator.getBytes(UTF_8), ISO_8859_1);
    if (all.startsWith(mark)) {
      all = all.substring(mark.length());
    }
    long number = 0;
    while (!all.isEmpty()) {
      number++;
      int lineFeed = all.indexOf('\n');
      String line = lineFeed < 0 ? all : all.substring(0, lineFeed);
      all = lineFeed < 0 ? "" : all.substring(lineFeed + 1);
      if (lineFeed >= 0 && line.endsWith("\r")) {
        line = line.substring(0, line.length() - 1);
      }
      int at = line.indexOf(literal);
      if (at > 0 && isUtf8(line)) {
        records.add(line.substring(0, at) + "→" + line.substring(at + literal.length()));
        lines.add(number);
      }
    }
    return number;
  }

  private static boolean isUtf8(String bytes) {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes.getBytes(ISO_8859_1)));
      return true;
    } catch (CharacterCodingException bad) {
      return false;
    }
  }
}
