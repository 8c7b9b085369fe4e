package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Values of many mebibytes, and of as many bytes as an array may have. */
@Timeout(value = 1200, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LargeValuesTest {
  @TempDir Path directory;

  /** Around the length from which a record is stored uncompressed. */
  @Sampled(2)
  @ParameterizedTest
  @EnumSource(names = {"COMPRESSED", "PACKED_COMPRESSED"})
  void aroundSixtyFourMebibytesCompressed(Layout layout) throws Exception {
    byte[] value = new byte[(64 << 20) - 9];
    value[0] = 1;
    value[value.length - 1] = 2;
    Path target = directory.resolve("db");
    try (DatabaseBuilder builder =
        DatabaseBuilder.create(
            target,
            Truth.fitting(BuildOptions.defaults().withLayout(layout).withCompressionLevel(1)))) {
      RecordBatch batch = builder.newBatch();
      byte[] keys = Truth.utf8("abcde");
      batch.add(keys, 0, 1, value, 0, 10);
      batch.add(
          keys,
          1,
          1,
          value,
          0,
          value.length - 1); // with its header, the longest that is compressed
      batch.add(keys, 2, 1, value, 0, value.length);
      batch.add(keys, 3, 1, value, 0, 10);
      builder.add(batch);
      builder.finish();
    }
    assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(4);
    assertThat(Database.statistics(target).dataBytes())
        .isBetween((long) value.length, value.length + 1_000_000L);
    for (OpenOptions.Engine engine : Offered.engines()) {
      try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
        Truth.same(
            database.get(Truth.utf8("b")), Arrays.copyOf(value, value.length - 1), "compressed");
        Truth.same(database.get(Truth.utf8("c")), value, "stored");
        Truth.same(database.get(Truth.utf8("d")), Arrays.copyOf(value, 10), "small");
      }
    }
  }

  /** Builds and reads a value of the length that is given. */
  static final class Huge {
    private Huge() {}

    public static void main(String[] args) throws Exception {
      Path target = Path.of(args[0]);
      int length = Integer.parseInt(args[2]);
      byte[] value = new byte[length];
      for (long i = 0; i < length; i += 4099) {
        value[(int) i] = (byte) (i * 31);
      }
      value[length - 1] = 77;
      BuildOptions options =
          BuildOptions.defaults()
              .withLayout(Layout.valueOf(args[1].toUpperCase(java.util.Locale.ROOT)))
              .withCompressionLevel(1)
              .withDictionaryBytes(0);
      try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
        builder.add(Truth.utf8("small"), Truth.utf8("before"));
        builder.add(Truth.utf8("huge"), value);
        builder.add(Truth.utf8("small too"), Truth.utf8("behind"));
        builder.finish();
      }
      for (OpenOptions.Engine engine : Offered.engines()) {
        try (Database database = Database.open(target, OpenOptions.defaults().withEngine(engine))) {
          Truth.same(database.get(Truth.utf8("huge")), value, "huge");
          Truth.same(database.get(Truth.utf8("small too")), Truth.utf8("behind"), "small");
          Truth.same(database.get(Truth.utf8("small")), Truth.utf8("before"), "small");
        }
      }
      System.out.println("read");
      assertThat(Database.verify(target, (done, total) -> {}).records()).isEqualTo(3);
      System.out.println("verified");
    }
  }

  @Tag("long")
  @ParameterizedTest
  @EnumSource
  void asManyBytesAsAnArrayMayHave(Layout layout) throws Exception {
    for (int length : new int[] {(1 << 30) + 5, Integer.MAX_VALUE - 8}) {
      Path target = directory.resolve("db-" + length);
      List<String> command =
          Fork.command(
              Huge.class,
              target.toString(),
              layout.name().toLowerCase(java.util.Locale.ROOT),
              String.valueOf(length));
      command.replaceAll(argument -> argument.equals("-Xmx256m") ? "-Xmx11g" : argument);
      Process process = Fork.start(command);
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor()).as("%s bytes: %s", length, output).isZero();
      assertThat(output.lines()).containsExactly("read", "verified");
      for (Path file : Golden.files(target)) {
        java.nio.file.Files.delete(file);
      }
    }
  }
}
