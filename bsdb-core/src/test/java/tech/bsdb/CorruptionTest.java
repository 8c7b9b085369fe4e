package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The golden databases, damaged in every way. */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CorruptionTest {
  private static final int PAGE = 4096;

  @TempDir Path temporary;

  private Specimen specimen(Golden golden) throws IOException {
    return new Specimen(
        golden.copyTo(temporary.resolve("db")), golden.truth(), !golden.approximate());
  }

  @ParameterizedTest
  @EnumSource
  void bitsOfContentAreFlipped(Golden golden) throws Exception {
    flip(golden, Seeds.random("CorruptionTest " + golden), 6, Rounds.longOrShort(1, 32));
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void everyBitIsFlipped(Golden golden) throws Exception {
    flip(golden, new SplittableRandom(0), PAGE, 1);
  }

  /** Flips bits, one in so many, of bytes that are not zero, and of some others in each page. */
  private void flip(Golden golden, SplittableRandom random, int paddingPerPage, int oneIn)
      throws IOException {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      for (int at = 0; at < bytes.length; at++) {
        if (bytes[at] != 0 || random.nextInt(PAGE) < paddingPerPage) {
          for (int bit = 8 * at; bit < 8 * at + 8; bit++) {
            if (random.nextInt(oneIn) == 0) {
              Specimen.flip(file, bit);
              specimen.check(file, "flipped bit " + bit);
              Specimen.flip(file, bit);
            }
          }
        }
      }
      assertThat(file).as("the test's own repairs").hasBinaryContent(bytes);
    }
    assertThat(specimen.verify(specimen.directory())).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void filesAreCutShort(Golden golden) throws Exception {
    cut(golden, Rounds.longOrShort(32, 256), Rounds.longOrShort(20, 4));
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void filesAreCutAtEveryLength(Golden golden) throws Exception {
    cut(golden, 1, 0);
  }

  /** Cuts at multiples of the step, and at all lengths so near to the end of a page. */
  private void cut(Golden golden, int step, int near) throws IOException {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        for (int length = bytes.length - 1; length >= 0; length--) {
          int toEdge = Math.min(length % PAGE, PAGE - length % PAGE);
          if (length % step == 0 || toEdge < near) {
            channel.truncate(length);
            specimen.check(file, "cut to " + length);
          }
        }
      }
      Files.write(file, bytes);
    }
  }

  @ParameterizedTest
  @EnumSource
  void filesAreMissing(Golden golden) throws Exception {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      Files.delete(file);
      specimen.check(file, "deleted");
      Files.createDirectory(file);
      specimen.check(file, "replaced by a directory");
      Files.delete(file);
      assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
      specimen.check(file, "replaced by a pipe"); // to open one would wait for a writer
      Files.delete(file);
      Files.write(file, bytes);
    }
  }

  @ParameterizedTest
  @EnumSource
  void bytesAreAppended(Golden golden) throws Exception {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      for (int more : new int[] {1, 64, 100, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE, 1 << 20}) {
        for (int fill : new int[] {0, 0xFF}) {
          byte[] longer = java.util.Arrays.copyOf(bytes, bytes.length + more);
          java.util.Arrays.fill(longer, bytes.length, longer.length, (byte) fill);
          Files.write(file, longer);
          specimen.check(file, more + " bytes appended");
        }
      }
      byte[] again = java.util.Arrays.copyOf(bytes, bytes.length + PAGE);
      System.arraycopy(bytes, bytes.length - PAGE, again, bytes.length, PAGE);
      Files.write(file, again);
      specimen.check(file, "footer appended again");
      Files.write(file, bytes);
    }
  }

  @ParameterizedTest
  @EnumSource
  void pagesAreLostOrExchanged(Golden golden) throws Exception {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      for (int page = 0; page < bytes.length / PAGE; page++) {
        byte[] zeros = new byte[PAGE];
        if (!java.util.Arrays.equals(bytes, page * PAGE, (page + 1) * PAGE, zeros, 0, PAGE)) {
          Specimen.write(file, (long) page * PAGE, zeros);
          specimen.check(file, "page " + page + " of zeros");
          Files.write(file, bytes);
        }
        for (int other = 0; other < page; other++) {
          if (!java.util.Arrays.equals(
              bytes, page * PAGE, (page + 1) * PAGE, bytes, other * PAGE, (other + 1) * PAGE)) {
            byte[] swapped = bytes.clone();
            System.arraycopy(bytes, page * PAGE, swapped, other * PAGE, PAGE);
            System.arraycopy(bytes, other * PAGE, swapped, page * PAGE, PAGE);
            Files.write(file, swapped);
            specimen.check(file, "pages " + page + " and " + other + " exchanged");
            Files.write(file, bytes);
          }
        }
      }
    }
  }

  @Sampled(5)
  @ParameterizedTest
  @EnumSource
  void filesAreOfAnotherDatabase(Golden golden) throws Exception {
    Specimen specimen = specimen(golden);
    for (Golden other : Golden.values()) {
      for (Path file : Golden.files(specimen.directory())) {
        byte[] bytes = Files.readAllBytes(file);
        for (Path strange : Golden.files(other.directory())) {
          if (!java.util.Arrays.equals(Files.readAllBytes(strange), bytes)) {
            Files.copy(strange, file, StandardCopyOption.REPLACE_EXISTING);
            if (file.endsWith("manifest.bsdb") && strange.endsWith("manifest.bsdb")) {
              assertTimeoutPreemptively(
                  java.time.Duration.ofSeconds(10), () -> missingFile(specimen.directory()));
            } else {
              specimen.check(file, "replaced by " + strange.getFileName());
            }
          }
        }
        Files.write(file, bytes);
      }
    }
  }

  /** The manifest of another database names files that are not here. */
  private static void missingFile(Path directory) {
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> Database.open(directory))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
  }

  @ParameterizedTest
  @EnumSource
  void filesOfOneDatabaseAreExchanged(Golden golden) throws Exception {
    Specimen specimen = specimen(golden);
    for (Path file : Golden.files(specimen.directory())) {
      byte[] bytes = Files.readAllBytes(file);
      for (Path other : Golden.files(specimen.directory())) {
        if (!file.equals(other)) {
          Files.copy(other, file, StandardCopyOption.REPLACE_EXISTING);
          specimen.check(file, "replaced by " + other.getFileName());
          Files.write(file, bytes);
        }
      }
    }
  }
}
