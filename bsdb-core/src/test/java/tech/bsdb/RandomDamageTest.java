package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Databases of many pages and files, damaged at random. */
@Timeout(value = 30, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RandomDamageTest {
  private static final int PAGE = 4096;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RandomDamageTest");

  static List<Arguments> kinds() {
    List<Arguments> kinds = new ArrayList<>();
    kinds.add(Arguments.of("blocked", BuildOptions.defaults().withLayout(Layout.BLOCKED)));
    kinds.add(
        Arguments.of(
            "compact", BuildOptions.defaults().withLayout(Layout.COMPACT).withDataFiles(2)));
    kinds.add(
        Arguments.of(
            "compressed",
            BuildOptions.defaults().withLayout(Layout.COMPRESSED).withDictionaryBytes(9000)));
    kinds.add(
        Arguments.of("packed", BuildOptions.defaults().withLayout(Layout.PACKED).withDataFiles(2)));
    kinds.add(
        Arguments.of(
            "packed with a filter",
            BuildOptions.defaults().withLayout(Layout.PACKED).withFilterBits(13)));
    kinds.add(
        Arguments.of(
            "packed and compressed",
            BuildOptions.defaults()
                .withLayout(Layout.PACKED_COMPRESSED)
                .withDataFiles(2)
                .withDictionaryBytes(9000)));
    kinds.add(Arguments.of("ordered", BuildOptions.defaults().withOrderedKeys(true)));
    kinds.add(
        Arguments.of(
            "packed and ordered",
            BuildOptions.defaults().withLayout(Layout.PACKED).withOrderedKeys(true)));
    kinds.add(Arguments.of("gov", BuildOptions.defaults().withHash(HashAlgorithm.GOV)));
    kinds.add(
        Arguments.of(
            "approximate", BuildOptions.defaults().withApproximateWidth(60).withChecksumBits(32)));
    return kinds;
  }

  @Sampled(3)
  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void damageIsFoundOrDoesNoHarm(String name, BuildOptions options) throws Exception {
    damage(options, 40);
  }

  @Tag("long")
  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void muchMoreOfIt(String name, BuildOptions options) throws Exception {
    damage(options, 3000);
  }

  private Truth truth(BuildOptions options) {
    Truth truth = Truth.random(random, 2500, 60);
    for (int i = 0; i < 20 && options.approximateWidth() == 0; i++) {
      truth.add("page " + i, "long ".repeat(random.nextInt(3000)));
    }
    return truth;
  }

  private void damage(BuildOptions options, int times) throws IOException {
    Truth truth = truth(options);
    Path target = directory.resolve("db");
    truth.build(target, options);
    Specimen specimen = new Specimen(target, truth, options.approximateWidth() == 0);
    List<Path> files = Golden.files(target);
    for (int i = 0; i < times; i++) {
      Path file = files.get(random.nextInt(files.size()));
      byte[] before = Files.readAllBytes(file);
      byte[] bytes = before.clone();
      String what = damage(bytes);
      if (Arrays.equals(bytes, before)) {
        continue;
      }
      Files.write(file, bytes);
      specimen.check(file, what);
      Files.write(file, before);
    }
    assertThat(specimen.read(OpenOptions.Engine.MAPPED, target)).isFalse();
    assertThat(specimen.verify(target)).isFalse();
  }

  private String damage(byte[] bytes) {
    int pages = bytes.length / PAGE;
    int page = random.nextInt(pages);
    int other = random.nextInt(pages);
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(6)) {
      case 0 -> {
        bytes[at] ^= (byte) (1 << random.nextInt(8));
        return "flipped a bit of byte " + at;
      }
      case 1 -> {
        Arrays.fill(bytes, page * PAGE, (page + 1) * PAGE, (byte) 0);
        return "page " + page + " of zeros";
      }
      case 2 -> {
        System.arraycopy(bytes.clone(), other * PAGE, bytes, page * PAGE, PAGE);
        return "page " + other + " copied over page " + page;
      }
      case 3 -> {
        byte[] copy = bytes.clone();
        System.arraycopy(copy, other * PAGE, bytes, page * PAGE, PAGE);
        System.arraycopy(copy, page * PAGE, bytes, other * PAGE, PAGE);
        return "pages " + page + " and " + other + " exchanged";
      }
      case 4 -> {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(3 * PAGE));
        System.arraycopy(Truth.bytes(random, length), 0, bytes, at, length);
        return length + " random bytes at " + at;
      }
      default -> {
        int length = Math.min(bytes.length - at, 1 + random.nextInt(200));
        Arrays.fill(bytes, at, at + length, (byte) 0xFF);
        return length + " bytes 0xFF at " + at;
      }
    }
  }

  /**
   * A page that is sound by itself, but of another database: no lookup can tell, but verification
   * does.
   */
  @Sampled(3)
  @ParameterizedTest(name = "{0}")
  @MethodSource("kinds")
  void verificationFindsPagesOfAnotherDatabase(String name, BuildOptions options) throws Exception {
    Path target = directory.resolve("db");
    Path other = directory.resolve("other");
    truth(options).build(target, options);
    truth(options).build(other, options);
    Specimen specimen = new Specimen(target, new Truth(), false);
    List<Path> files = Golden.files(target);
    List<Path> others = Golden.files(other);
    for (int i = 0; i < files.size(); i++) {
      byte[] before = Files.readAllBytes(files.get(i));
      byte[] strange = Files.readAllBytes(others.get(i));
      for (int page = 1; page < Math.min(before.length, strange.length) / PAGE - 1; page++) {
        byte[] mixed = before.clone();
        System.arraycopy(strange, page * PAGE, mixed, page * PAGE, PAGE);
        if (!Arrays.equals(mixed, before)) {
          Files.write(files.get(i), mixed);
          assertThat(specimen.verify(files.get(i)))
              .as("page %s of %s", page, files.get(i))
              .isTrue();
        }
      }
      Files.write(files.get(i), before);
    }
  }
}
