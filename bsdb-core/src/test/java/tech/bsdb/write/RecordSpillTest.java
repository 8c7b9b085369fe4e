package tech.bsdb.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Leaks;
import tech.bsdb.Seeds;
import tech.bsdb.Truth;
import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;

/** Spilled records come back by partition, in the order of adding, with their numbers. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RecordSpillTest {
  private static final int CHUNK = 1 << 14;

  /** Bytes of the entry of a record of 8 and 80 bytes that follows the last one. */
  private static final int ENTRY = 1 + 3 + 8 + 80;

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("RecordSpillTest");
  private final FramedRecord framed = new FramedRecord();
  private final List<List<Added>> added = new ArrayList<>();
  private long records;
  private long recordBytes;

  /** A record as it was added. */
  private record Added(long number, byte[] key, byte[] value) {}

  @AfterEach
  void nothingIsLeft() throws Exception {
    Leaks.assertNone(directory);
    assertThat(Leaks.tree(directory)).isEmpty();
  }

  private RecordSpill spill() throws IOException {
    added.clear();
    for (int i = 0; i < RecordSpill.PARTITIONS; i++) {
      added.add(new ArrayList<>());
    }
    records = 0;
    recordBytes = 0;
    return new RecordSpill(directory);
  }

  private void add(RecordSpill spill, int partition, int keyLength, int valueLength)
      throws IOException {
    byte[] key = Truth.bytes(random, keyLength);
    byte[] value = Truth.bytes(random, valueLength);
    frame(framed, key, value, random.nextInt(20), random.nextBoolean());
    framed.high =
        (long) partition << Long.SIZE - RecordSpill.PARTITION_BITS
            | random.nextLong() >>> RecordSpill.PARTITION_BITS;
    framed.low = random.nextLong();
    spill.add(framed);
    added.get(partition).add(new Added(records++, key, value));
    recordBytes += RecordFrame.length(keyLength, valueLength);
  }

  /** Frames a record at an offset of an array, with the value behind the key or in another one. */
  private static void frame(
      FramedRecord record, byte[] key, byte[] value, int offset, boolean together) {
    int head = RecordFrame.headerLength(key.length, value.length) + key.length;
    byte[] bytes = new byte[offset + head + (together ? value.length : 0)];
    int at = RecordFrame.put(bytes, offset, key.length, value.length);
    System.arraycopy(key, 0, bytes, at, key.length);
    record.head = bytes;
    record.headStart = offset;
    record.headLength = head;
    record.keyLength = key.length;
    record.value = together ? bytes : value;
    record.valueStart = together ? offset + head : 0;
    record.valueLength = value.length;
    if (together) {
      System.arraycopy(value, 0, bytes, offset + head, value.length);
    }
  }

  private void check(RecordSpill spill) throws IOException {
    assertThat(spill.records()).isEqualTo(records);
    assertThat(spill.recordBytes()).isEqualTo(recordBytes);
    for (int i = 0; i < RecordSpill.PARTITIONS; i++) {
      check(spill, i);
    }
  }

  private void check(RecordSpill spill, int partition) throws IOException {
    List<Added> expected = added.get(partition);
    assertThat(spill.count(partition)).isEqualTo(expected.size());
    int[] next = {0};
    long[] bytesRead = {0};
    spill.read(
        partition,
        (number, bytes, from, keyFrom, keyLength, length) -> {
          Added record = expected.get(next[0]++);
          assertThat(number).isEqualTo(record.number);
          int valueLength = RecordFrame.valueLength(RecordFrame.header(bytes, from));
          assertThat(valueLength).isEqualTo(record.value.length);
          Truth.same(Arrays.copyOfRange(bytes, keyFrom, keyFrom + keyLength), record.key, "key");
          boolean isLong = valueLength > RecordSpill.LONG_VALUE;
          byte[] value =
              isLong
                  ? longValue(spill, bytes, keyFrom + keyLength, valueLength)
                  : Arrays.copyOfRange(bytes, keyFrom + keyLength, from + length);
          Truth.same(value, record.value, "value");
          assertThat(keyFrom - from + keyLength + (isLong ? RecordSpill.REFERENCE : valueLength))
              .isEqualTo(length);
          bytesRead[0] += length + 1;
        });
    assertThat(next[0]).as("records of partition " + partition).isEqualTo(expected.size());
    assertThat(spill.bytes(partition)).isGreaterThanOrEqualTo(bytesRead[0]);
  }

  private static byte[] longValue(RecordSpill spill, byte[] reference, int at, int length)
      throws IOException {
    byte[] value = new byte[length];
    int[] done = {0};
    spill.readLong(
        reference,
        at,
        length,
        new byte[5000],
        (part, bytes) -> {
          System.arraycopy(part, 0, value, done[0], bytes);
          done[0] += bytes;
        });
    assertThat(done[0]).isEqualTo(length);
    return value;
  }

  @Test
  void nothing() throws Exception {
    try (RecordSpill spill = spill()) {
      spill.finish();
      check(spill);
      assertThat(spill.bytes(0)).isZero();
    }
  }

  @Test
  void oneRecord() throws Exception {
    try (RecordSpill spill = spill()) {
      add(spill, 1023, 0, 0);
      spill.finish();
      check(spill);
    }
  }

  @Test
  void smallRecordsOfAllPartitions() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 60_000; i++) {
        add(spill, random.nextInt(RecordSpill.PARTITIONS), random.nextInt(20), random.nextInt(9));
      }
      spill.finish();
      check(spill);
      check(spill);
    }
  }

  @Test
  void numbersWithWideGaps() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int gap : new int[] {1, 126, 127, 128, 129, 16_382, 16_383, 16_384, 16_385}) {
        for (int i = 1; i < gap; i++) {
          add(spill, 7, 1, 0);
        }
        add(spill, 500, 5, 5);
      }
      spill.finish();
      check(spill);
    }
  }

  @Test
  void valuesAroundTheLengthOfALongOne() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int length = RecordSpill.LONG_VALUE - 40;
          length < RecordSpill.LONG_VALUE + 40;
          length++) {
        add(spill, 3, 1 + random.nextInt(255), length);
        add(spill, random.nextInt(5), random.nextInt(3), length);
      }
      for (int length : new int[] {32_509, 32_510, 32_511, 65_535, 65_536, 1 << 20, 3_000_000}) {
        add(spill, 3, 8, length);
        add(spill, 3, 300, length);
      }
      spill.finish();
      check(spill);
    }
  }

  @Test
  void entriesThatEndAroundTheEndOfAChunk() throws Exception {
    for (int shift = 0; shift < 25; shift++) {
      try (RecordSpill spill = spill()) {
        // number, header and key take 5 bytes
        add(spill, 9, 1, CHUNK - Spill.HEAD - 5 - shift);
        for (int i = 0; i < 30; i++) {
          add(spill, 9, random.nextInt(4), random.nextInt(4));
        }
        add(spill, 9, 65_535, RecordSpill.LONG_VALUE);
        add(spill, 9, 65_535, RecordSpill.LONG_VALUE);
        add(spill, 9, 65_535, RecordSpill.LONG_VALUE + 1);
        add(spill, 9, 1, 1);
        spill.finish();
        check(spill);
      }
    }
  }

  @Test
  void longEntriesOfOnePartition() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 200; i++) {
        add(spill, 1000, random.nextInt(65_536), random.nextInt(RecordSpill.LONG_VALUE + 1));
        if (i % 10 == 0) {
          add(spill, 1000, random.nextInt(3), random.nextInt(3));
        }
      }
      spill.finish();
      check(spill);
    }
  }

  @Test
  void severalThreadsRead() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 3000; i++) {
        add(spill, random.nextInt(8), random.nextInt(40), random.nextInt(400));
        if (i % 100 == 0) {
          add(spill, random.nextInt(8), 8, 20_000 + random.nextInt(20_000));
        }
      }
      spill.finish();
      List<CompletableFuture<Void>> checks = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        int partition = i % 8;
        checks.add(
            CompletableFuture.runAsync(
                () -> {
                  try {
                    check(spill, partition);
                  } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                  }
                }));
      }
      for (CompletableFuture<Void> each : checks) {
        each.get();
      }
    }
  }

  @Test
  void filesGoWithTheirLastPartition() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 200_000; i++) {
        add(spill, random.nextInt(RecordSpill.PARTITIONS), 8, 80);
      }
      spill.finish();
      assertThat(Leaks.tree(directory)).hasSize(16);
      for (int i = 0; i < RecordSpill.PARTITIONS; i++) {
        int partition = i;
        if (i % 50 == 0) {
          check(spill, i);
        }
        spill.drop(i);
        assertThat(Leaks.tree(directory)).hasSize(16 - (i + 1) / 64);
        if (i % 64 == 63) {
          assertThatThrownBy(() -> spill.read(partition, (a, b, c, d, e, f) -> {}))
              .isInstanceOf(IllegalStateException.class);
        }
      }
      assertThat(Leaks.openFiles(directory)).isEmpty();
    }
  }

  @Test
  void aSpillThatWasLeftIsDeleted() throws Exception {
    RecordSpill spill = spill();
    for (int i = 0; i < 5000; i++) {
      add(spill, random.nextInt(3), 8, 80);
    }
    spill.close();
    spill.close();
  }

  @Test
  void aFileInTheWayIsRefusedAndKept() throws Exception {
    for (String name : new String[] {"records-0.part", "records-15.part"}) {
      Path inTheWay = Files.createFile(directory.resolve(name));
      assertThatThrownBy(() -> new RecordSpill(directory))
          .isInstanceOf(FileAlreadyExistsException.class);
      assertThat(Leaks.tree(directory)).containsExactly(name);
      Files.delete(inTheWay);
    }
  }

  @Test
  void aDamagedChainIsNotFollowed() throws Exception {
    int chunk = Spill.HEAD + (CHUNK - Spill.HEAD) / ENTRY * ENTRY;
    long[] links = {-2, 1, chunk + 8, 1L << 40, Long.MIN_VALUE, -1};
    for (long link : links) {
      try (RecordSpill spill = spill()) {
        for (int i = 0; i < 3000; i++) {
          add(spill, 0, 8, 80); // a chain of chunks from the start of the first file
        }
        spill.finish();
        try (RandomAccessFile file =
            new RandomAccessFile(directory.resolve("records-0.part").toFile(), "rw")) {
          file.seek(3 * chunk);
          file.writeLong(Long.reverseBytes(link));
        }
        assertThatThrownBy(() -> spill.read(0, (a, b, c, d, e, f) -> {}))
            .as("link " + link)
            .isInstanceOf(IOException.class)
            .hasMessageContaining("damaged");
      }
    }
  }

  @Test
  void aCutFileIsAnError() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 3000; i++) {
        add(spill, 0, 8, 80);
      }
      spill.finish();
      try (RandomAccessFile file =
          new RandomAccessFile(directory.resolve("records-0.part").toFile(), "rw")) {
        file.setLength(5 * CHUNK + 100);
      }
      assertThatThrownBy(() -> spill.read(0, (a, b, c, d, e, f) -> {}))
          .isInstanceOf(IOException.class);
    }
  }

  @Test
  void aFlippedBitIsFound() throws Exception {
    try (RecordSpill spill = spill()) {
      for (int i = 0; i < 3000; i++) {
        add(spill, 9, 10, 20);
      }
      add(spill, 9, 10, 100_000);
      add(spill, 9, 10, CHUNK);
      spill.finish();
      check(spill);
      Path path = directory.resolve("records-0.part");
      for (long at = 0; at < Files.size(path); at += at < 40 ? 1 : 1999) {
        flip(path, at);
        assertThatThrownBy(() -> check(spill, 9))
            .as("at " + at)
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
