package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.WrongShardException;

/** The numbers of keys, which stand for places in the order. */
class KeyNumberTest {
  private static final BuildOptions ORDERED = BuildOptions.defaults().withOrderedKeys(true);

  @TempDir Path folder;

  private static List<byte[]> keys(SplittableRandom random, int count, int longest) {
    TreeSet<byte[]> keys = new TreeSet<>(Arrays::compareUnsigned);
    while (keys.size() < count) {
      keys.add(Truth.bytes(random, random.nextInt(longest + 1)));
    }
    return new ArrayList<>(keys);
  }

  private Path build(List<byte[]> keys, BuildOptions options) throws IOException {
    Path directory = folder.resolve("db");
    try (DatabaseBuilder builder = DatabaseBuilder.create(directory, options)) {
      for (byte[] key : keys) {
        builder.add(key, new byte[] {1});
      }
      builder.finish();
    }
    return directory;
  }

  /** The last has nodes of several pages, and the one before the most leaves. */
  @ParameterizedTest
  @CsvSource({"0, 5", "1, 5", "17, 3", "3000, 20", "60000, 300", "60, 60000"})
  void aNumberIsThatOfTheLesserKeys(int count, int longest) throws IOException {
    SplittableRandom random = Seeds.random("KeyNumberTest");
    List<byte[]> keys = keys(random, count, longest);
    try (Database database = Database.open(build(keys, ORDERED))) {
      for (int i = 0; i < count; i += 1 + random.nextInt(1 + count / 2000)) {
        byte[] key = keys.get(i);
        assertThat(database.keyAt(i)).isEqualTo(key);
        assertThat(database.keyNumber(key)).isEqualTo(i);
        byte[] longer = Arrays.copyOf(key, key.length + 1);
        boolean present = i + 1 < count && Arrays.equals(keys.get(i + 1), longer);
        assertThat(database.keyNumber(longer)).isEqualTo(present ? i + 1 : -1);
      }
      for (long none : new long[] {-1, count, Long.MAX_VALUE, Long.MIN_VALUE}) {
        assertThatIllegalArgumentException()
            .isThrownBy(() -> database.keyAt(none))
            .withMessageContaining("number " + none + " is not one of the " + count + " keys");
      }
    }
  }

  @Test
  void theKeysOfASetAreNumberedShardByShard() throws IOException {
    List<byte[]> keys = keys(Seeds.random("KeyNumberTest"), 5000, 12);
    Path set = build(keys, ORDERED.withShards(7));
    boolean[] seen = new boolean[keys.size()];
    try (Database database = Database.open(set)) {
      for (byte[] key : keys) {
        int number = Math.toIntExact(database.keyNumber(key));
        assertThat(seen[number]).isFalse();
        seen[number] = true;
        assertThat(database.keyAt(number)).isEqualTo(key);
      }
    }
    Path shard;
    try (var directories = Files.list(set)) {
      shard = directories.filter(Files::isDirectory).sorted().findFirst().orElseThrow();
    }
    try (Database database = Database.open(shard)) {
      int own = 0;
      for (byte[] key : keys) {
        try {
          assertThat(database.keyNumber(key)).isEqualTo(own);
          own++;
        } catch (WrongShardException foreign) {
          // belongs to another shard
        }
      }
      assertThat(own).isEqualTo((int) database.statistics().records()).isPositive();
    }
  }

  @Test
  void withoutAnOrderThereAreNoNumbers() throws IOException {
    List<byte[]> keys = keys(Seeds.random("KeyNumberTest"), 10, 12);
    try (Database database = Database.open(build(keys, BuildOptions.defaults()))) {
      assertThatThrownBy(() -> database.keyNumber(keys.get(0)))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("--ordered");
      assertThatThrownBy(() -> database.keyAt(0)).isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void afterCloseItIsAnIllegalState() throws IOException {
    List<byte[]> keys = keys(Seeds.random("KeyNumberTest"), 10, 12);
    Database database = Database.open(build(keys, ORDERED));
    database.close();
    assertThatIllegalStateException().isThrownBy(() -> database.keyNumber(keys.get(0)));
    assertThatIllegalStateException().isThrownBy(() -> database.keyAt(0));
  }

  /** Every page but the header is damaged, one at a time. */
  @Test
  void damageIsFoundOrDoesNotMatter() throws IOException {
    List<byte[]> keys = keys(Seeds.random("KeyNumberTest"), 3000, 20);
    Path directory = build(keys, ORDERED);
    Path order;
    try (var files = Files.list(directory)) {
      order =
          files
              .filter(file -> file.getFileName().toString().contains("order"))
              .findFirst()
              .orElseThrow();
    }
    byte[] good = Files.readAllBytes(order);
    int found = 0;
    for (int at = 4096 + 100; at < good.length - 4096; at += 4096) {
      byte[] damaged = good.clone();
      damaged[at] ^= 4;
      Files.write(order, damaged);
      try (Database database = Database.open(directory)) {
        for (int i = 0; i < keys.size(); i += 50) {
          try {
            assertThat(database.keyAt(i)).isEqualTo(keys.get(i));
            assertThat(database.keyNumber(keys.get(i))).isEqualTo(i);
          } catch (CorruptDatabaseException e) {
            assertThat(e.file().toString()).endsWith(order.getFileName().toString());
            found++;
          }
        }
      }
    }
    assertThat(found).isPositive();
  }
}
