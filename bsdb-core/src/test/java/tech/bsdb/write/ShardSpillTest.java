package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.Truth;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.KeySlots;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** Routed records come back by shard, in the order of adding, whole and with their signatures. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShardSpillTest {
  private static final SignatureFunction FUNCTION =
      SignatureFunction.of(SignatureAlgorithm.SPOOKY, 4711);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("ShardSpillTest");
  private final List<List<Added>> added = new ArrayList<>();
  private long records;

  /** A record as it was added, and its number among all. */
  private record Added(long number, byte[] key, byte[] value) {}

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  private ShardSpill spill(int shards) throws IOException {
    added.clear();
    for (int i = 0; i < shards; i++) {
      added.add(new ArrayList<>());
    }
    records = 0;
    return new ShardSpill(directory, "routed", shards, FUNCTION);
  }

  private void add(ShardSpill spill, byte[] key, int valueLength) throws IOException {
    byte[] value = Truth.bytes(random, valueLength);
    FramedRecord record = new FramedRecord();
    record.head = new byte[3 + RecordFrame.WIDE + key.length];
    record.headStart = 3;
    int keyAt = RecordFrame.put(record.head, 3, key.length, value.length);
    System.arraycopy(key, 0, record.head, keyAt, key.length);
    record.headLength = keyAt + key.length - 3;
    record.keyLength = key.length;
    record.value = value;
    record.valueLength = value.length;
    spill.add(record);
    added.get(KeySlots.shard(key, added.size())).add(new Added(records++, key, value));
  }

  private void check(ShardSpill spill) throws IOException {
    assertThat(spill.records()).isEqualTo(records);
    for (int i = 0; i < added.size(); i++) {
      check(spill, i, 1);
    }
  }

  private void check(ShardSpill spill, int shard, int step) throws IOException {
    List<Added> expected = added.get(shard);
    assertThat(spill.records(shard)).isEqualTo(expected.size());
    Signature signature = new Signature();
    int[] next = {0};
    spill.read(
        shard,
        step,
        record -> {
          Added found = expected.get(next[0]);
          next[0] += step;
          int keyFrom = record.keyStart();
          Truth.same(
              Arrays.copyOfRange(record.head, keyFrom, keyFrom + record.keyLength),
              found.key,
              "key");
          Truth.same(
              Arrays.copyOfRange(
                  record.value, record.valueStart, record.valueStart + record.valueLength),
              found.value,
              "value");
          assertThat(RecordFrame.headLengthAt(record.head, record.headStart) + record.keyLength)
              .isEqualTo(record.headLength);
          FUNCTION.sign(found.key, 0, found.key.length, signature);
          assertThat(record.high).isEqualTo(signature.high);
          assertThat(record.low).isEqualTo(signature.low);
        });
    assertThat(next[0]).isEqualTo((expected.size() + step - 1) / step * step);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 15, 16, 17, 100, 1024, 1025, 16_384})
  void recordsOfAllSizes(int shards) throws Exception {
    try (ShardSpill spill = spill(shards)) {
      for (int i = 0; i < 50_000; i++) {
        add(spill, Truth.bytes(random, random.nextInt(20)), random.nextInt(30));
      }
      for (int length : new int[] {4084, 4085, 16_384, 16_385, 70_000, 1 << 20, 3_000_000, 5}) {
        add(spill, Truth.bytes(random, 65_535), length);
        add(spill, Truth.bytes(random, 5), length);
      }
      spill.finish();
      check(spill);
      check(spill);
    }
  }

  @Test
  void everyNthRecordIsTaken() throws Exception {
    try (ShardSpill spill = spill(2)) {
      for (int i = 0; i < 5000; i++) {
        add(spill, Truth.utf8("key " + i), i % 100 == 0 ? 20_000 : 10);
      }
      spill.finish();
      for (int step : new int[] {1, 2, 3, 10, 999, 6000}) {
        check(spill, 0, step);
        check(spill, 1, step);
      }
    }
  }

  @Test
  void recordsAreNumberedAmongAll() throws Exception {
    try (ShardSpill spill = spill(7)) {
      for (int i = 0; i < 9000; i++) {
        add(spill, Truth.utf8("key " + i), 10);
      }
      spill.finish();
      for (int shard = 0; shard < 7; shard++) {
        List<Added> expected = added.get(shard);
        for (int place = 0; place < expected.size(); place += 111) {
          assertThat(spill.number(shard, place)).isEqualTo(expected.get(place).number);
        }
        assertThat(spill.number(shard, expected.size())).isEqualTo(-1);
      }
    }
  }

  @Test
  void chunksOfFewShardsAreLargeAndThoseOfAllFitInMemory() {
    assertThat(ShardSpill.chunkBytes(2)).isEqualTo(1 << 20);
    assertThat(ShardSpill.chunkBytes(1024)).isEqualTo(1 << 14);
    for (int shards = 2; shards <= KeySlots.COUNT; shards++) {
      int bytes = ShardSpill.chunkBytes(shards);
      assertThat(bytes).isGreaterThanOrEqualTo(1 << 12);
      assertThat((long) bytes * shards).isLessThanOrEqualTo(shards <= 4096 ? 1 << 24 : 1 << 26);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 16, 17, 40})
  void filesGoWithTheirLastShard(int shards) throws Exception {
    try (ShardSpill spill = spill(shards)) {
      for (int i = 0; i < 20_000; i++) {
        add(spill, Truth.bytes(random, 8), i % 100 == 0 ? 20_000 : 80);
      }
      spill.finish();
      int files = Math.min(16, shards);
      assertThat(Leaks.tree(directory)).hasSize(files).allMatch(name -> name.startsWith("routed-"));
      for (int i = 0; i < shards; i++) {
        check(spill, i, 1);
        spill.drop(i);
        int left = files - (i + 1) * files / shards;
        assertThat(Leaks.tree(directory).size()).isBetween(left, left + 1);
      }
      assertThat(Leaks.tree(directory)).isEmpty();
    }
  }

  @Test
  void filesOfAShardsOwnSpillHaveOtherNames() throws Exception {
    try (ShardSpill spill = spill(16);
        RecordSpill own = new RecordSpill(directory)) {
      assertThat(Leaks.tree(directory))
          .hasSize(32)
          .allMatch(n -> n.matches("[0-9A-Za-z-]+\\.part"));
      own.finish();
      spill.finish();
    }
  }

  @Test
  void damageIsFound() throws Exception {
    try (ShardSpill spill = spill(2)) {
      for (int i = 0; i < 40_000; i++) {
        add(spill, Truth.bytes(random, 8), i % 1000 == 0 ? 50_000 : 100);
      }
      spill.finish();
      check(spill);
      Path path = directory.resolve("routed-1.part");
      for (long at = 0; at < Files.size(path); at += 99_991) {
        flip(path, at);
        assertThatThrownBy(() -> check(spill, 1, 1))
            .as("at %s", at)
            .isInstanceOf(IOException.class)
            .hasMessageContaining("damaged");
        flip(path, at);
      }
      check(spill);
    }
  }

  private static void flip(Path path, long at) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.seek(at);
      int old = file.read();
      file.seek(at);
      file.write(old ^ 4);
    }
  }
}
