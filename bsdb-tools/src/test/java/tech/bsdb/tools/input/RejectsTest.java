package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.input.InputOptions.OnBadLine;

final class RejectsTest {
  @TempDir Path directory;

  @Test
  void listsEveryBadLineWithItsPlaceInOrder() throws IOException {
    StringBuilder text = new StringBuilder();
    StringBuilder expected = new StringBuilder();
    Path file = directory.resolve("in");
    for (int i = 1; i <= 2000; i++) {
      boolean bad = i % 3 == 0;
      text.append(bad ? "bad\tline" + i : "k" + i + " v").append(i % 2 == 0 ? "\r\n" : "\n");
      expected.append(
          bad ? file + ":" + i + ": no separator \" \" in the line: bad\tline" + i + "\n" : "");
    }
    Files.writeString(file, text);
    Path rejects =
        Readings.file(directory, "rejects", "something longer that was there before".repeat(5000));
    Readings read = Readings.read(Readings.skipping(file).withRejects(rejects).withThreads(4), 100);
    assertThat(read.report().rejected()).isEqualTo(666);
    assertThat(Files.readString(rejects)).isEqualTo(expected.toString());
  }

  @Test
  void linesAreUnchangedAndNamesOfFilesAreEscaped() throws IOException {
    Path file = Readings.file(directory, "in\n\u001b[2J", "b\u001b[2J\nk v\n");
    Path rejects = directory.resolve("rejects");
    Readings.read(Readings.skipping(file).withRejects(rejects));
    assertThat(Files.readString(rejects))
        .isEqualTo(directory + "/in\\x0a\\x1b[2J:1: no separator \" \" in the line: b\u001b[2J\n");
  }

  @Test
  void keepsLinesThatAreNotUtf8Unchanged() throws IOException {
    Path file = Readings.file(directory, "in", "b\u00e4d line\nk v\n", ISO_8859_1);
    Path rejects = directory.resolve("rejects");
    Readings.read(Readings.skipping(file).withRejects(rejects));
    assertThat(Files.readString(rejects, ISO_8859_1))
        .isEqualTo(file + ":1: bytes that are not valid UTF-8: b\u00e4d line\n");
  }

  @Test
  void convertsValidTextOfOtherEncodingsToUtf8() throws IOException {
    Path file = Readings.file(directory, "in", "中文\nk v\n", UTF_16LE);
    Path rejects = directory.resolve("rejects");
    Readings.read(Readings.skipping(file).withRejects(rejects).withEncoding(UTF_16LE));
    assertThat(Files.readString(rejects))
        .isEqualTo(file + ":1: no separator \" \" in the line: 中文\n");
    byte[] gbk = {'k', ' ', (byte) 0xD6, (byte) 0xD0, (byte) 0x81, '\n'};
    file = Readings.file(directory, "in", gbk);
    Readings.read(
        Readings.skipping(file).withRejects(rejects).withEncoding(Charset.forName("GBK")));
    assertThat(Files.readString(rejects, ISO_8859_1))
        .isEqualTo(file + ":1: bytes that are not valid GBK: k ä¸\u00ad\u0081\n");
  }

  @Test
  void anOlderFileStaysIfReadingFails() throws IOException {
    Path file = Readings.file(directory, "in", "a 1\nbad1\nbad2\n");
    Path rejects = Readings.file(directory, "rejects", "older");
    Readings read =
        Readings.read(Readings.of(file).withOnBadLine(OnBadLine.FAIL).withRejects(rejects));
    assertThat(read.failure()).isInstanceOf(BadInputException.class);
    assertThat(rejects).hasContent("older");
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).containsExactlyInAnyOrder(file, rejects);
    }
  }

  @Test
  void isEmptyIfNoLineIsBad() throws IOException {
    Path file = Readings.file(directory, "in", "a 1\n");
    Path rejects = directory.resolve("rejects");
    Readings.read(Readings.skipping(file).withRejects(rejects));
    assertThat(rejects).isEmptyFile();
  }

  @Test
  void isRefusedBeforeReadingIfNotWritable() throws IOException {
    Path file = Readings.file(directory, "in", "a 1\n");
    assertRefused(file, file, "is an input");
    Path link = Files.createSymbolicLink(directory.resolve("link"), file);
    assertRefused(file, link, "is an input");
    assertRefused(directory, file, "is an input");
    Path data = Readings.file(directory, "data", "BSDBFILE...");
    assertRefused(file, data, "is a file of a database");
    assertThatThrownBy(() -> Input.open(Readings.skipping(file).withRejects(Path.of("-"))))
        .hasMessageContaining("bad lines need a file");
    assertRefused(file, directory, "is a directory");
    assertRefused(file, directory.resolve("missing/rejects"), "no such directory");
    assertThat(Files.readString(file)).isEqualTo("a 1\n");
  }

  @Test
  void aFullDiskIsAnError() throws IOException {
    Path full = Path.of("/dev/full");
    if (Files.isWritable(full)) {
      Path file = Readings.file(directory, "in", "bad\n");
      Readings read = Readings.read(Readings.skipping(file).withRejects(full));
      assertThat(read.failure()).isInstanceOf(InputException.class);
      assertThat(read.message()).startsWith("/dev/full: ").contains("No space left");
    }
  }

  private static void assertRefused(Path input, Path rejects, String reason) {
    assertThatThrownBy(() -> Input.open(Readings.skipping(input).withRejects(rejects)))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(rejects + ": ")
        .hasMessageContaining(reason);
  }
}
